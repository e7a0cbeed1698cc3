"""Where two runs of one case differ: in waits, errors, results and the final state."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import isfinite

from acidtest.model import (
    Affected,
    Blocked,
    DifferenceKind,
    ErrorKind,
    Failed,
    History,
    Omitted,
    Outcome,
    Record,
    Row,
    Rows,
    RunDifference,
    Value,
)
from acidtest.sql import StatementKind, kind_of

NOT_UNDERSTOOD = frozenset({ErrorKind.SYNTAX, ErrorKind.NO_SUCH_OBJECT, ErrorKind.UNSUPPORTED})
"""Errors that say that a statement is none of this DBMS's."""


def differences(here: History, there: History) -> tuple[RunDifference, ...]:
    """All differences, in the order in which the steps took effect here; the final state comes last.

    Whatever follows the first one may follow from it.
    """
    return (*_of_steps(here, there), *_of_states(here, there))


def not_understood(here: History, there: History) -> str | None:
    """The target that does not know a statement which the other one runs; None if there is none."""
    for mine, theirs in zip(here.records, there.records, strict=True):
        refused = [_is_refused(mine.outcome), _is_refused(theirs.outcome)]
        if refused[0] != refused[1] and not _never_ran(mine, theirs):
            return here.target if refused[0] else there.target
    return None


def same_start(here: History, there: History) -> bool:
    """Whether the set-up left the same rows."""
    return here.initial.keys() == there.initial.keys() and all(
        same_values(rows, there.initial[table]) for table, rows in here.initial.items()
    )


def same_values(some: Sequence[Row], others: Sequence[Row]) -> bool:
    """The same rows in any order. DBMSs have several types for one number, and round floats differently."""
    return _counted(some) == _counted(others)


def _is_refused(outcome: Outcome) -> bool:
    return isinstance(outcome, Failed) and outcome.kind in NOT_UNDERSTOOD


def _never_ran(*records: Record) -> bool:
    return any(isinstance(one.outcome, Omitted | Blocked) for one in records)


def _of_steps(here: History, there: History) -> Iterator[RunDifference]:
    ended = here.observed_order
    order = [*ended, *(one.step for one in here.records if one.step not in set(ended))]
    for step in order:
        mine, theirs = here.records[step], there.records[step]
        kind = DifferenceKind.WAIT if mine.waited != theirs.waited else _kind(mine, theirs)
        if kind is not None:
            waited = mine.waited, theirs.waited
            yield RunDifference(kind, step, mine.outcome, theirs.outcome, *waited)


def _kind(mine: Record, theirs: Record) -> DifferenceKind | None:
    match mine.outcome, theirs.outcome:
        case Rows() as some, Rows() as others:
            return None if same_values(some.rows, others.rows) else DifferenceKind.ROWS
        case Affected() as one, Affected() as other:
            counts = kind_of(mine.sql) is StatementKind.WRITE and one.count != other.count
            return DifferenceKind.COUNT if counts else None
        case Failed() as one, Failed() as other:
            return None if one.kind is other.kind else DifferenceKind.ERROR
        case one, other if type(one) is type(other):
            return None
        case Failed(), _:
            return DifferenceKind.ERROR
        case _, Failed():
            return DifferenceKind.ERROR
    return DifferenceKind.WAIT if _never_ran(mine, theirs) else DifferenceKind.ROWS


def _of_states(here: History, there: History) -> Iterator[RunDifference]:
    if here.final is None or there.final is None:
        return
    for table, rows in here.final.items():
        others = there.final.get(table, ())
        if not same_values(rows, others):
            yield RunDifference(DifferenceKind.STATE, None, Rows((), rows), Rows((), others), table=table)


def _counted(rows: Sequence[Row]) -> Counter[tuple[Value, ...]]:
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Value) -> Value:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float | Decimal) and isfinite(value):
        whole = value.is_integer() if isinstance(value, float) else value == value.to_integral_value()
        return int(value) if whole else float(f"{value:.11g}")
    return value
