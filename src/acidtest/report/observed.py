"""A run printed as it really went, in the shape of a case file: it can be pasted, parsed and run again.

Statements stand in the order in which they were launched; what became of each stands behind it or, if other
things happened in between, in a comment line where it happened.
"""

from collections.abc import Iterable, Iterator, Mapping

from acidtest.casefile import (
    Unmet,
    await_lines,
    format_outcome,
    format_rows,
    front_lines,
    printable,
    session_mark,
    terminated,
)
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    EventKind,
    Failed,
    History,
    Indeterminate,
    Omitted,
    Overran,
    Record,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.split import Rules, rules_for

COMMENT_COLUMN_MAX = 64
"""Results stand in one column, as in a bug report that someone aligned by hand, but not farther right."""

LONGEST_LINE = 120
LONGEST_BRIEF = 60


def print_history(history: History, unmet: Iterable[Unmet] = ()) -> str:
    """The case's front and set-up, its statements in observed order, and the final state."""
    unmet = tuple(unmet)
    case = history.case
    rules = rules_for([history.dbms])
    lines = [
        *front_lines(_as_run(history)),
        f"-- Observed on {history.target}, server version {printable(history.version)}",
        *(
            ["-- setup", *(terminated(statement.sql, rules) for statement in case.setup)]
            if case.setup
            else []
        ),
        "-- schedule",
        *_Schedule(history, {one.step: one for one in unmet if one.step is not None}).lines(),
        "-- final",
        *_final(history, {one.table: one for one in unmet if one.table is not None}),
        *_teardown(history, rules),
    ]
    return "\n".join(lines) + "\n"


def _as_run(history: History) -> Case:
    """The case with the levels it really ran at, so that the print says so."""
    levels = set(history.levels.values())
    return history.case.at_level(levels.pop()) if len(levels) == 1 else history.case


class _Schedule:
    """Turns events into lines."""

    def __init__(self, history: History, unmet: Mapping[int, Unmet]) -> None:
        self._history = history
        self._unmet = unmet
        self._rules = rules_for([history.dbms])
        self._lines: list[str] = []
        self._awaits: list[str] = []
        """The mark of the last statement, which may stand behind all that is said of it."""
        self._session: str | None = None
        """Whose statement was printed last."""
        lengths = [len(self._line(record)) for record in history.records if "\n" not in record.sql]
        self._column = max((length for length in lengths if length <= COMMENT_COLUMN_MAX), default=0)
        self._last: int | None = None
        """The step whose statement the last line belongs to."""

    def lines(self) -> list[str]:
        """All lines of the schedule."""
        for event in self._history.events:
            record = self._history.records[event.step]
            match event.kind:
                case EventKind.LAUNCHED:
                    self._statement(record)
                case EventKind.BLOCKED:
                    self._say(record, "blocked" + (f" by {', '.join(event.by)}" if event.by else ""))
                case EventKind.RESUMED:
                    cause = "" if event.cause is None else f" by {brief(self._history, event.cause)}"
                    self._say(record, f"resumed{cause}")
                case EventKind.COMPLETED:
                    self._completed(record)
                case EventKind.ABORTED:
                    self._say(record, "aborted: the transaction was undone")
        self._unfinished()
        return [*self._lines, *self._awaits]

    def _unfinished(self) -> None:
        """What never came to an end, and what was never sent."""
        for record in self._history.records:
            if isinstance(record.outcome, Blocked):
                self._say(record, "still waited when the schedule ended")
            elif isinstance(record.outcome, Overran):
                self._say(record, f"overran: {format_outcome(record.outcome)}")
            elif isinstance(record.outcome, Omitted):
                self._statement(record)
                self._say(record, f"omitted: {record.outcome.why}")
            else:
                continue
            self._judge(record)

    def _statement(self, record: Record) -> None:
        self._lines.extend(self._awaits)
        self._awaits = list(await_lines(self._history.case.steps[record.step]))
        self._lines.append(self._line(record))
        self._last = record.step
        self._session = record.session

    def _line(self, record: Record) -> str:
        step = self._history.case.steps[record.step]
        # Where others came in between, a joined statement stands for itself.
        mark = session_mark(step) if self._session == step.session else f"/* {step.session} */"
        return f"{mark} {terminated(record.sql, self._rules)}"

    def _completed(self, record: Record) -> None:
        outcome = record.outcome
        message = (
            f": {printable(outcome.message)}"
            if isinstance(outcome, Failed | Indeterminate) and outcome.message
            else ""
        )
        silent = isinstance(outcome, Affected) and kind_of(record.sql) is not StatementKind.WRITE
        self._say(record, "ok" if silent else format_outcome(outcome) + message)
        for warning in record.warnings:
            self._say(record, f"{warning.level.lower()} {warning.code}: {printable(warning.message)}")
        self._judge(record)

    def _judge(self, record: Record) -> None:
        if (unmet := self._unmet.get(record.step)) is not None:
            self._say(record, f"UNMET, expected {unmet.expected}")

    def _say(self, record: Record, text: str) -> None:
        """Behind the statement if nothing else came in between, else in a line that names the statement."""
        if self._last != record.step:
            self._lines.append(f"-- {brief(self._history, record.step)}  -- {text}")
            self._last = record.step
            return
        last = self._lines[-1]
        joined = f"{last}; {text}" if "  -- " in last else f"{last:<{self._column}}  -- {text}"
        if len(joined) <= LONGEST_LINE and "\n" not in last:
            self._lines[-1] = joined
        else:
            self._lines.append(f"--   {text}")


def brief(history: History, step: int) -> str:
    """A statement in a few words, fit for a comment."""
    record = history.records[step]
    kind = kind_of(record.sql)
    words = printable(" ".join(record.sql.split()))
    if kind in (StatementKind.COMMIT, StatementKind.ROLLBACK):
        words = kind.name
    if len(words) > LONGEST_BRIEF:
        words = words[: LONGEST_BRIEF - 3] + "..."
    return f"{record.session} {words}"


def _teardown(history: History, rules: Rules) -> Iterator[str]:
    failures = dict(history.teardown_failures)
    if history.case.teardown:
        yield "-- teardown"
    for statement in history.case.teardown:
        yield terminated(statement.sql, rules)
        if (failure := failures.get(statement.sql)) is not None:
            message = f": {printable(failure.message)}" if isinstance(failure, Failed) else ""
            yield f"--   {format_outcome(failure)}{message}"


def _final(history: History, unmet: Mapping[str, Unmet]) -> Iterator[str]:
    if history.final is None:
        yield "-- the server died; its final state could not be read"
        return
    for table, rows in history.final.items():
        yield f"-- {table}: {format_rows(rows)}"
        if table in unmet:
            yield f"-- UNMET, expected {table}: {unmet[table].expected}"
