"""Which statements of committed transactions count when they are run without transactions."""

import re
from collections.abc import Iterable, Iterator, Sequence

from acidtest.model import Failed, History, Record, Trace
from acidtest.model.trace import Fate, PredicateRead, Read, TraceVersion
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.rerunning import why_unsure
from acidtest.oracles.serial import Unit
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Shape, Verb, shape_of
from acidtest.targets.resolve import dialect_of

_SAVEPOINT = re.compile(r"\s*SAVEPOINT\s+(\S+?)\s*;?\s*", re.IGNORECASE)
_RELEASE = re.compile(r"\s*RELEASE\s+(?:SAVEPOINT\s+)?(\S+?)\s*;?\s*", re.IGNORECASE)
_ROLLBACK_TO = re.compile(
    r"\s*ROLLBACK\s+(?:WORK\s+|TRANSACTION\s+)?TO\s+(?:SAVEPOINT\s+)?(\S+?)\s*;?\s*", re.IGNORECASE
)


def replayable_steps(history: History, trace: Trace, units: Iterable[Unit]) -> tuple[int, ...]:
    """Steps that can be run without transactions. Raises `UndecidedError` if a write is none of them.

    A statement that failed did nothing. What a transaction took back by ROLLBACK TO never was, and a read
    that saw it cannot see it again. A read whose answer is open says nothing.
    """
    taken_back_seen = set(_saw_what_is_gone(trace))
    steps: list[int] = []
    for unit in units:
        for record in _kept(unit.records):
            if kind_of(record.sql) not in (StatementKind.QUERY, StatementKind.WRITE):
                continue
            if isinstance(record.outcome, Failed):
                continue
            shape = shape_of(record.sql, dialect_of(history.dbms))
            if reason := _why_not(history, record, shape, record.step in taken_back_seen):
                if shape is None or shape.verb is not Verb.READ:
                    raise UndecidedError(reason)
                continue
            steps.append(record.step)
    return tuple(sorted(steps))


def _why_not(history: History, record: Record, shape: Shape | None, saw_what_is_gone: bool) -> str:
    if history.case.steps[record.step].statement.parameters is not None:
        return "a statement with values for placeholders"
    if saw_what_is_gone:
        return "a statement that saw what was taken back later"
    return why_unsure(history, shape)


def _kept(records: Sequence[Record]) -> list[Record]:
    """The statements of a transaction but for those that it took back."""
    kept: list[Record] = []
    marks: list[tuple[str, int]] = []
    for record in records:
        if match := _ROLLBACK_TO.fullmatch(record.sql):
            while marks and marks[-1][0] != match[1].lower():
                marks.pop()
            if not marks:
                raise UndecidedError(f"savepoint {match[1]} is not known")
            del kept[marks[-1][1] :]
        elif match := _RELEASE.fullmatch(record.sql):
            while marks and marks.pop()[0] != match[1].lower():
                pass
        elif match := _SAVEPOINT.fullmatch(record.sql):
            marks.append((match[1].lower(), len(kept)))
        elif kind_of(record.sql) is not StatementKind.SAVEPOINT:
            kept.append(record)
    return kept


def _saw_what_is_gone(trace: Trace) -> Iterator[int]:
    """Steps that saw a version which was never installed."""
    for transaction in trace.transactions:
        if transaction.fate is not Fate.COMMITTED:
            continue
        for operation in transaction.operations:
            match operation:
                case Read() if _is_gone(trace, operation.version):
                    yield operation.step
                case PredicateRead() if any(_is_gone(trace, one) for one in operation.seen.values()):
                    yield operation.step


def _is_gone(trace: Trace, version: TraceVersion) -> bool:
    return version not in trace.order.get(version.object, ())
