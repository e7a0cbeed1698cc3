"""Short runs on a simulated engine, written as lines like `1 BEGIN`."""

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.model import Affected, ErrorKind, Failed, Level, Record, Row, Rows, State
from acidtest.targets import Target

SETUP = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);"


class Play:
    """A run of lines like `1 BEGIN`; records by line, and what is left at the end."""

    def __init__(self, target: Target, level: Level, script: str, setup: str = SETUP) -> None:
        lines = [line.strip() for line in script.strip().splitlines()]
        schedule = "\n".join(f"/* tx{line[0]} */ {line[2:]};" for line in lines)
        text = f"-- level: {level.value}\n-- setup\n{setup}\n-- schedule\n{schedule}\n"
        with Executor(target) as executor:
            history = executor.run(parse_case(text, "play"))
        assert history.final is not None
        self.records: tuple[Record, ...] = history.records
        self.final: State = history.final

    def rows(self, step: int) -> tuple[Row, ...]:
        outcome = self.records[step].outcome
        assert isinstance(outcome, Rows), outcome
        return outcome.rows

    def count(self, step: int) -> int:
        outcome = self.records[step].outcome
        assert isinstance(outcome, Affected), outcome
        return outcome.count

    def error(self, step: int) -> ErrorKind:
        outcome = self.records[step].outcome
        assert isinstance(outcome, Failed), outcome
        return outcome.kind

    def waited(self) -> dict[int, tuple[str, ...]]:
        return {record.step: record.blocked_by for record in self.records if record.waited}
