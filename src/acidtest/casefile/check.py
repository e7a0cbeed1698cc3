"""Whether a history is what its case file expects."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

from acidtest.casefile.expectations import format_alternatives
from acidtest.casefile.literals import format_row, format_rows
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    Condition,
    ErrorKind,
    ExpectAffected,
    Expectation,
    ExpectBlocked,
    ExpectEnd,
    ExpectError,
    ExpectLike,
    ExpectOk,
    ExpectResumed,
    ExpectRows,
    ExpectWarning,
    Failed,
    FinalExpectation,
    History,
    Indeterminate,
    Level,
    Omitted,
    Outcome,
    Overran,
    Record,
    Row,
    Rows,
    Value,
)

E = TypeVar("E", Expectation, FinalExpectation)


@dataclass(frozen=True, slots=True)
class Unmet:
    """An expectation that does not hold, on a step or on a table's final rows, in words to be printed."""

    step: int | None
    table: str | None
    expected: str
    observed: str


def check(history: History) -> tuple[Unmet, ...]:
    """The expectations of the case that the history does not meet, statements first."""
    return (*_unmet_steps(history), *_unmet_tables(history))


def _unmet_steps(history: History) -> Iterable[Unmet]:
    records = {record.step: record for record in history.records}
    for step in history.case.steps:
        levels = {history.levels[step.session]} if step.session in history.levels else set()
        record = records.get(step.index)
        for expectation in applicable(step.statement.expect, levels):
            if record is None or not _holds(expectation, record, history.case):
                observed = "it was not run" if record is None else format_record(record)
                yield Unmet(step.index, None, format_alternatives(expectation), observed)


def _unmet_tables(history: History) -> Iterable[Unmet]:
    levels = set(history.levels.values())
    by_table: dict[str, list[FinalExpectation]] = {}
    for final in history.case.expect_final:
        by_table.setdefault(final.table, []).append(final)
    for table, finals in by_table.items():
        rows = _final_rows(history, table)
        for final in applicable(finals, levels):
            if isinstance(rows, str) or not any(matches(rows, wanted) for wanted in final.alternatives):
                observed = rows if isinstance(rows, str) else format_rows(rows)
                yield Unmet(None, table, format_alternatives(final), observed)


def _final_rows(history: History, table: str) -> tuple[Row, ...] | str:
    """The table's rows, or why there are none. DBMSs fold names differently, so case does not decide."""
    if history.final is None:
        return "the server died"
    if table in history.final:
        return history.final[table]
    folded = [name for name in history.final if name.casefold() == table.casefold()]
    return history.final[folded[0]] if len(folded) == 1 else "no such table"


def applicable(expectations: Sequence[E], levels: Iterable[Level]) -> tuple[E, ...]:
    """The expectations for a run at these levels: those that name all of them, else those that name none."""
    ran_at = set(levels)
    special = tuple(one for one in expectations if one.levels and ran_at and ran_at <= set(one.levels))
    return special or tuple(one for one in expectations if not one.levels)


def _holds(expectation: Expectation, record: Record, case: Case) -> bool:
    return any(
        all(_meets(record, condition, case) for condition in conjunction)
        for conjunction in expectation.alternatives
    )


def _meets(record: Record, condition: Condition, case: Case) -> bool:
    outcome = record.outcome
    match condition:
        case ExpectRows(rows, ordered):
            return isinstance(outcome, Rows) and matches(outcome.rows, rows, ordered)
        case ExpectAffected(count):
            return isinstance(outcome, Affected) and outcome.count == count
        case ExpectOk():
            return isinstance(outcome, Rows | Affected)
        case ExpectError(kind, code):
            if isinstance(outcome, Indeterminate):
                return kind in (None, ErrorKind.CONNECTION_LOST) and code in (None, outcome.code)
            return (
                isinstance(outcome, Failed) and kind in (None, outcome.kind) and code in (None, outcome.code)
            )
        case ExpectBlocked(blocked, by):
            return _waited(record) is blocked and _waited_for(record, by)
        case ExpectResumed(by):
            releaser = None if record.resumed_by is None else case.steps[record.resumed_by].session
            return _waited(record) and not isinstance(outcome, Blocked) and releaser in (None, *by)
        case ExpectEnd():
            return isinstance(outcome, Rows | Affected | Failed | Indeterminate)
        case ExpectWarning(code, present):
            return present is any(code in (None, one.code) for one in record.warnings)
        case ExpectLike(pattern, present):
            return present is any(re.search(pattern, text) for text in _told(record))


def _told(record: Record) -> Iterator[str]:
    """What the DBMS said, row by row, error and warnings, as acidtest prints it."""
    match record.outcome:
        case Rows(columns, rows):
            yield ", ".join(columns)
            yield from map(format_row, rows)
        case Failed(_, code, message):
            yield f"{message} ({code})"
        case Indeterminate(code, message):
            yield f"{message} ({code})"
    yield from (f"{one.level} {one.code}: {one.message}" for one in record.warnings)


def _waited(record: Record) -> bool:
    return record.waited or isinstance(record.outcome, Blocked)


def _waited_for(record: Record, by: tuple[str, ...]) -> bool:
    """Whether it waited for one of these. A server that does not say for whom does not refute it."""
    blockers = _blockers(record)
    return not by or not blockers or any(name in blockers for name in by)


def _blockers(record: Record) -> tuple[str, ...]:
    own = record.outcome.by if isinstance(record.outcome, Blocked) else ()
    return tuple(dict.fromkeys((*record.blocked_by, *own)))


def matches(observed: Sequence[Row], expected: Sequence[Row], ordered: bool = False) -> bool:
    """Whether the rows that a DBMS returned are the rows of an expectation.

    Numbers are equal by value (1, 1.0 and 1.00), text is never equal to bytes or numbers. A literal takes
    the type of the column it is compared with where SQL has no other way to write it: TRUE is 1 where the
    DBMS returned the integer 1 (and only then: 1 is not TRUE), 0.1 is a float where the column holds floats,
    a TIME is a duration where the driver gives durations.
    """
    types = _column_types(observed)
    wanted = [tuple(map(_typed_as, row, types)) if len(row) == len(types) else row for row in expected]
    left, right = [list(map(_key, row)) for row in observed], [list(map(_key, row)) for row in wanted]
    if ordered:
        return left == right
    return Counter(map(tuple, left)) == Counter(map(tuple, right))


def _column_types(rows: Sequence[Row]) -> list[set[type]]:
    width = max(map(len, rows), default=0)
    return [{type(row[column]) for row in rows if column < len(row)} for column in range(width)]


def _typed_as(literal: Value, types: set[type]) -> Value:
    if isinstance(literal, bool) and bool not in types and int in types:
        return int(literal)
    if isinstance(literal, Decimal) and float in types and Decimal not in types:
        return float(literal)
    if isinstance(literal, time) and timedelta in types and time not in types and literal.tzinfo is None:
        return datetime.combine(datetime.min, literal) - datetime.min
    return literal


def _key(value: Value) -> tuple[str, Value]:
    """Equal for values that count as the same; Python's True == 1 and NaN != NaN are not meant."""
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, float | Decimal) and value != value:  # noqa: PLR0124
        return "nan", None
    return "value", value


def format_record(record: Record) -> str:
    """What happened to a step, in the words of expectations: `blocked by tx1; affected 1`."""
    waited = ""
    if _waited(record):
        blockers = _blockers(record)
        waited = "blocked by " + ", ".join(blockers) if blockers else "blocked"
    return "; ".join(filter(None, (waited, format_outcome(record.outcome))))


def format_outcome(outcome: Outcome) -> str:
    """An outcome in the words of expectations where they have one; none for an endless wait."""
    match outcome:
        case Rows(_, rows):
            return format_rows(rows)
        case Affected(count):
            return f"affected {count}"
        case Failed(kind, code):
            return f"error {kind} {code}".rstrip()
        case Indeterminate(code):
            return f"indeterminate, the connection was lost {code}".rstrip()
        case Blocked():
            return ""
        case Overran(limit_s):
            return f"no answer within {limit_s:g} s"
        case Omitted(why):
            return f"not run: {why}"
