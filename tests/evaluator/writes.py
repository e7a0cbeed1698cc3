"""Whole statements on a server and by the evaluator: rows, counts, errors, and what the tables hold after."""

from collections import Counter
from collections.abc import Mapping, Sequence

from acidtest.evaluator import Dialect, EvaluationError, Result, Unknown, compile_query
from acidtest.evaluator.writes import Effect, compile_write
from acidtest.model import Affected, Failed, Row, Rows, Schema
from acidtest.sql.shape import Shape, Verb, shape_of
from tests.evaluator.tally import Tally

State = Mapping[str, Sequence[Row]]


class Judge:
    """Compares statements with the evaluator, on the tables of one schema."""

    def __init__(
        self, dbms: str, schema: Schema, dialect: Dialect, tally: Tally, setup: Sequence[str] = ()
    ) -> None:
        self._setup = setup
        self._dbms = dbms
        self._schema = schema
        self._dialect = dialect
        self._tally = tally

    def expect(self, sql: str, before: State) -> "Effect | Result | EvaluationError | None":
        """What the evaluator says of a statement on these rows; None if it does not know."""
        shape = shape_of(sql, self._dbms)
        if shape is None:
            self._tally.unknown["text that sqlglot does not read"] += 1
            return None
        try:
            if shape.verb is Verb.READ:
                return compile_query(shape.tree, self._schema, self._dialect).run(before)
            return self._effect(shape, before)
        except EvaluationError as error:
            return error
        except Unknown as unknown:
            self._tally.unknown[f"{shape.verb}: {unknown.reason}"] += 1
            return None

    def _effect(self, shape: Shape, before: State) -> Effect:
        write = compile_write(shape, self._schema, self._dialect)
        rows = {name: list(enumerate(own, 1)) for name, own in before.items()}
        own = rows[write.table.name]
        return write.run(own, own, before, seen=rows, related=rows)

    def compare(
        self,
        sql: str,
        expected: "Effect | Result | EvaluationError",
        outcome: Rows | Affected | Failed,
        before: State,
        after: State,
    ) -> None:
        """Whether the server did what was expected."""
        self._tally.cells += 1
        if isinstance(expected, EvaluationError):
            self._tally.errors += 1
            if not isinstance(outcome, Failed) or outcome.kind is not expected.kind:
                self._disagree(sql, expected, outcome, before)
        elif isinstance(expected, Result):
            if not isinstance(outcome, Rows) or not _exactly(expected, outcome.rows):
                self._disagree(sql, expected.rows, outcome, before)
        else:
            self._compare_effect(sql, expected, outcome, before, after)

    def _compare_effect(
        self, sql: str, effect: Effect, outcome: Rows | Affected | Failed, before: State, after: State
    ) -> None:
        if isinstance(outcome, Failed):
            self._tally.errors += 1
            if outcome.kind not in effect.errors | effect.may_fail:
                self._disagree(sql, effect, outcome, before)
            return
        if effect.errors:
            self._disagree(sql, effect.errors, outcome, before)
        elif isinstance(outcome, Affected) and effect.returned == () and outcome.count == 0:
            pass  # MariaDB sends no result set if the condition can never hold
        elif (effect.returned is None) != isinstance(outcome, Affected):
            self._disagree(sql, effect, outcome, before)
        elif isinstance(outcome, Rows) and _bag(outcome.rows) != _bag(effect.returned or ()):
            self._disagree(sql, effect.returned, outcome, before)
        elif isinstance(outcome, Affected) and outcome.count not in effect.counts:
            self._disagree(sql, effect, outcome, before)
        else:
            target = shape_of(sql, self._dbms)
            assert target is not None
            ours = applied(effect, before, self._name(target.target or ""))
            for name, rows in after.items():
                self._tally.cells += len(rows)
                if _bag(rows) != _bag(ours[name]):
                    self._disagree(sql, (name, ours[name]), (name, rows), before)

    def _name(self, name: str) -> str:
        wanted = self._dialect.table_key(name)
        return next(one.name for one in self._schema.tables if self._dialect.table_key(one.name) == wanted)

    def _disagree(self, sql: str, ours: object, theirs: object, before: State) -> None:
        tables = "\n".join(f"      {name}: {list(rows)}" for name, rows in before.items())
        definitions = "\n".join(f"      {sql};" for sql in self._setup)
        self._tally.disagreements.append(
            f"  {sql}\n    ours {ours!r}\n    server {theirs!r}\n{tables}\n{definitions}"
        )


def applied(effect: Effect, before: State, target: str) -> dict[str, list[Row]]:
    """The tables after an effect; rows are numbered from 1."""
    live = {name: dict(enumerate(rows, 1)) for name, rows in before.items()}
    for number, change in enumerate(effect.changes):
        table = live[change.table or target]
        if change.values is None:
            del table[change.row or 0]
        else:
            table[-number - 1 if change.row is None else change.row] = change.values
    return {name: list(rows.values()) for name, rows in live.items()}


def _bag(rows: Sequence[Row]) -> Counter[str]:
    return Counter(map(repr, rows))


def _exactly(result: Result, rows: Sequence[Row]) -> bool:
    spelled = tuple(
        type(block)(tuple((repr(row),) for row in block.rows), block.take) for block in result.blocks
    )
    return Result(result.columns, spelled).admits([(repr(row),) for row in rows])
