"""Where in a history a violation stands: the kind of its statement, and when what it missed was committed."""

from collections.abc import Iterator
from enum import StrEnum

from acidtest.model import (
    Affected,
    EventKind,
    History,
    Reason,
    Record,
    RowDifference,
    RowsWitness,
    StateWitness,
    TransactionState,
)
from acidtest.sql.shape import Locking, Shape, Verb, shape_of


class StatementClass(StrEnum):
    """UPDATE and DELETE find their rows in the same way, and so do all locking reads."""

    PLAIN_READ = "plain read"
    LOCKING_READ = "locking read"
    INSERT = "insert"
    UPDATE_OR_DELETE = "update or delete"
    OTHER = "other statement"  # BEGIN, COMMIT, ...
    FINAL_STATE = "final state"
    SERVER = "server"
    NONE = "nothing"


class Moment(StrEnum):
    """When rows that a statement should have seen were committed, as its own transaction tells time."""

    BEFORE_BEGIN = "before the transaction began"
    BEFORE_FIRST_READ = "before its first read"
    AFTER_FIRST_READ = "after its first read"


class Since(StrEnum):
    """Who has replaced or deleted a row by the time of the judged statement."""

    NOBODY = "nobody"
    WRITER = "its writer"
    SELF = "the reader"
    OPEN = "one that has not committed"
    OTHER = "another"


def shape_in(history: History, record: Record) -> Shape | None:
    """The shape of a statement in the SQL of the history."""
    return shape_of(record.sql, history.dbms)


def statement_class(history: History, record: Record | None) -> StatementClass:
    """The class of the statement at which something shows. A read that waited is a locking one, whatever it
    says."""
    if record is None:
        return StatementClass.FINAL_STATE
    shape = shape_in(history, record)
    if shape is None:
        return StatementClass.OTHER
    if shape.verb is Verb.READ:
        plain = shape.locking is Locking.NONE and not record.waited
        return StatementClass.PLAIN_READ if plain else StatementClass.LOCKING_READ
    return StatementClass.INSERT if shape.verb is Verb.INSERT else StatementClass.UPDATE_OR_DELETE


# -- rows

_SETTLED = frozenset(
    {
        Reason.NEVER_WRITTEN,
        Reason.ROLLED_BACK,
        Reason.REPLACED,
        Reason.DELETED,
        Reason.REPEATED,
        Reason.INITIAL,
        Reason.COMMITTED,
    }
)
"""Reasons after which it is clear what the table has to hold."""


def is_stored(history: History, step: int, witness: RowsWitness | StateWitness) -> bool | None:
    """Whether the wrong rows are in the table at the end, too; None if that would prove nothing: the rows
    are no whole ones, or somebody wrote after them."""
    if history.final is None or not witness.differences:
        return None
    if not _are_whole(history, witness) or _is_written_after(history, step):
        return None
    if not all(_is_settled(history, step, one) for one in witness.differences):
        return None
    return all((one.row in history.final.get(one.table, ())) is one.extra for one in witness.differences)


def _are_whole(history: History, witness: RowsWitness | StateWitness) -> bool:
    widths = {table.name: len(table.columns) for table in history.schema.tables}
    return all(len(one.row) == widths.get(one.table) for one in witness.differences)


def _is_written_after(history: History, step: int) -> bool:
    """Whether a statement that was launched after the end of a step may have written something."""
    later = {
        event.step for event in history.events[_place(history, step) :] if event.kind is EventKind.LAUNCHED
    }
    shapes = (shape_in(history, history.records[one]) for one in later)
    return any(shape is not None and shape.verb is not Verb.READ for shape in shapes)


_CUTS = ("where", "group", "having", "distinct", "limit", "offset")


def clarity_of(history: History, step: int | None) -> int:
    """How well rows can be told apart: better if a read shows them whole, best if it shows them all."""
    shape = None if step is None else shape_in(history, history.records[step])
    if shape is None or shape.verb is not Verb.READ:
        return 2
    if not shape.plain or not shape.tree.is_star:
        return 0
    return 1 if any(shape.tree.args.get(one) for one in _CUTS) else 2


def _is_settled(history: History, step: int, one: RowDifference) -> bool:
    """Whether it is clear what the table has to hold, as far as this row goes."""
    since = since_of(history, step, one)
    if not one.extra and since is not Since.NOBODY:
        return False
    return one.reason in _SETTLED and bool(one.table) and since not in (Since.SELF, Since.OPEN)


def is_torn(history: History, witness: RowsWitness | StateWitness) -> bool:
    """Whether a transaction of which rows are missing had written others that are not."""
    lost = [one for one in witness.differences if not one.extra and one.reason is Reason.COMMITTED]
    lost += [one for one in witness.differences if one.extra and one.reason is Reason.DELETED]
    for session, step in {_committed_by(one) for one in lost}:
        if step is not None and _rows_written(history, session, step) > len(lost):
            return True
    return False


def _committed_by(one: RowDifference) -> tuple[str, int | None]:
    return (
        (one.by, one.by_step) if one.reason in (Reason.REPLACED, Reason.DELETED) else (one.writer, one.step)
    )


def _rows_written(history: History, session: str, step: int) -> int:
    """Rows that the transaction of a step has written."""
    counts = (
        one.outcome.count for one in _transaction(history, session, step) if isinstance(one.outcome, Affected)
    )
    return sum(counts)


def _transaction(history: History, session: str, step: int) -> Iterator[Record]:
    """The records of the transaction that a step is part of."""
    current: list[Record] = []
    for record in history.records:
        if record.session != session:
            continue
        current.append(record)
        if record.after is TransactionState.NONE:
            if any(one.step == step for one in current):
                break
            current = []
    yield from current


def since_of(history: History, step: int | None, one: RowDifference) -> Since:
    """Who has replaced or deleted a row."""
    if one.by_step is None:
        return Since.NOBODY
    if step is not None and one.by == history.records[step].session:
        return Since.SELF
    if one.by == one.writer:
        return Since.WRITER
    committed = _commit_place(history, one.by, one.by_step)
    still_open = step is not None and (committed is None or committed > _place(history, step))
    return Since.OPEN if still_open else Since.OTHER


def moment_of(history: History, step: int | None, witness: RowsWitness | StateWitness) -> Moment | None:
    """When the latest of the rows that should have been seen was committed; None if none was."""
    if step is None:
        return None
    judged = history.records[step]
    commits = [
        place
        for one in witness.differences
        if one.reason in (Reason.COMMITTED, Reason.REPLACED, Reason.DELETED)
        for session, written in [_committed_by(one)]
        if written is not None
        and session != judged.session
        and (place := _commit_place(history, session, written)) is not None
    ]
    if not commits:
        return None
    own = [one.step for one in _transaction(history, judged.session, step)]
    reads = [one for one in own if one < step and _is_read(history, history.records[one])]
    if reads and max(commits) > _place(history, reads[0]):
        return Moment.AFTER_FIRST_READ
    return (
        Moment.BEFORE_FIRST_READ
        if max(commits) > _place(history, own[0]) and own[0] != step
        else Moment.BEFORE_BEGIN
    )


def _is_read(history: History, record: Record) -> bool:
    return shape_in(history, record) is not None


def _commit_place(history: History, session: str, step: int) -> int | None:
    ended = [one for one in _transaction(history, session, step) if one.after is TransactionState.NONE]
    return _place(history, ended[-1].step) if ended else None


def _place(history: History, step: int) -> int:
    """Where among the events a step ended."""
    places = (
        place
        for place, event in enumerate(history.events)
        if event.step == step and event.kind is EventKind.COMPLETED
    )
    return next(places, len(history.events))
