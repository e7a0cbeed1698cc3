"""What transactions had done by the time of a violation: its possible causes, as typed data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from acidtest.findings.places import shape_in
from acidtest.model import (
    Affected,
    EventKind,
    Failed,
    History,
    Record,
    Rows,
    TransactionState,
    Undone,
    WaitWitness,
    Witness,
)
from acidtest.model.trace import Fate
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Locking, Shape, Verb


class Act(StrEnum):
    """What a statement did."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"
    PLAIN_READ = "plain read"  # counts where it holds a lock
    SHARE_READ = "share-locking read"
    LOCKING_READ = "locking read"
    ROLLBACK_TO = "rollback to savepoint"


@dataclass(frozen=True, slots=True, order=True)
class Deed:
    """An act, what had become of it, and whether it failed, had waited itself, fell into the wait of the
    judged statement, or changed a key."""

    act: Act
    fate: Fate
    failed: bool = False
    waited: bool = False
    meanwhile: bool = False
    of_key: bool = False


def deeds_before(
    history: History, judged: Record | None, witness: Witness
) -> tuple[frozenset[Deed], frozenset[Deed]]:
    """What the transaction of a judged statement had done to its tables, and what others had.

    Of a transaction that is over it does not matter who ran it. Locks count only where one was broken.
    """
    return _Book(history, judged, witness).read()


class _Book:
    """Reads the events of a history up to the end of the judged statement."""

    def __init__(self, history: History, judged: Record | None, witness: Witness) -> None:
        self._history, self._judged = history, judged
        self._holder = witness if isinstance(witness, WaitWitness) else None
        self._tables = _tables(history, judged)
        self._open: dict[str, list[Deed]] = {session: [] for session in history.levels}
        self._over: set[Deed] = set()

    def read(self) -> tuple[frozenset[Deed], frozenset[Deed]]:
        launched, ended = _span(self._history, self._judged)
        for place, event in enumerate(self._history.events[:ended]):
            record = self._history.records[event.step]
            if event.kind is EventKind.ABORTED:
                self._ends(event.session, Fate.ABORTED)
            elif event.kind is EventKind.COMPLETED and record is not self._judged:
                deed = self._deed(record)
                if deed is not None:
                    self._open.setdefault(record.session, []).append(
                        replace(deed, meanwhile=place > launched)
                    )
                if record.after is TransactionState.NONE:
                    self._ends(event.session, Fate.ABORTED if _is_rollback(record) else Fate.COMMITTED)
        done = [] if self._judged is None else self._open.pop(self._judged.session, [])
        for session in list(self._open):
            self._ends(session, Fate.OPEN if self._judged is not None else Fate.ABORTED)
        return frozenset(done), frozenset(self._over)

    def _ends(self, session: str, fate: Fate) -> None:
        self._over.update(replace(one, fate=fate) for one in self._open.get(session, ()))
        self._open[session] = []

    def _deed(self, record: Record) -> Deed | None:
        """What a statement did to the tables in question; None if nothing."""
        if _rolls_back_to(record):
            return Deed(Act.ROLLBACK_TO, Fate.OPEN)
        shape = shape_in(self._history, record)
        if shape is None:
            return None
        if shape.verb is Verb.READ:
            return self._lock(record, shape)
        if shape.target is None or shape.target.lower() not in self._tables:
            return None
        act = Act(shape.verb.value)
        if isinstance(record.outcome, Failed):  # it may have left something behind, if it did not end it all
            failed = record.outcome.undone is Undone.STATEMENT
            return Deed(act, Fate.OPEN, failed=True, waited=record.waited) if failed else None
        if not isinstance(record.outcome, Affected):
            return None
        # A matched row counts: that nothing was written although a row was found is what some bugs are about.
        if not (record.outcome.count or record.outcome.matched) and shape.verb is not Verb.UPDATE:
            return None
        return Deed(act, Fate.OPEN, waited=record.waited, of_key=_moves_key(self._history, shape))

    def _lock(self, record: Record, shape: Shape) -> Deed | None:
        """A read is a deed if the lock that was broken is its own, or one that it asked for."""
        if self._holder is None or not self._tables & _folded(shape.reads):
            return None
        if record.step == self._holder.since:
            return Deed(_read_act(shape), Fate.OPEN, waited=record.waited)
        took = isinstance(record.outcome, Rows) and bool(record.outcome.rows)
        asked = shape.locking is not Locking.NONE and took
        return Deed(_read_act(shape), Fate.OPEN, waited=record.waited) if asked else None


def _read_act(shape: Shape) -> Act:
    if shape.locking is Locking.NONE:
        return Act.PLAIN_READ
    return Act.SHARE_READ if shape.locking in (Locking.SHARE, Locking.KEY_SHARE) else Act.LOCKING_READ


def _rolls_back_to(record: Record) -> bool:
    is_savepoint = kind_of(record.sql) is StatementKind.SAVEPOINT and not isinstance(record.outcome, Failed)
    return is_savepoint and record.sql.split(maxsplit=1)[0].upper().startswith("ROLLBACK")


def _is_rollback(record: Record) -> bool:
    """Whether the transaction that ended with it was undone, by wish or by an error."""
    if isinstance(record.outcome, Failed):
        return record.outcome.undone in (Undone.TRANSACTION, Undone.CONNECTION)
    return kind_of(record.sql) is StatementKind.ROLLBACK


def _tables(history: History, judged: Record | None) -> frozenset[str]:
    """The tables that it may have to do with, in lower case."""
    shape = None if judged is None else shape_in(history, judged)
    return _folded(shape.reads if shape is not None else (table.name for table in history.schema.tables))


def _folded(names: Iterable[str]) -> frozenset[str]:
    """Some DBMSs tell `T` and `t` apart; a case in which that matters is none that we know how to judge."""
    return frozenset(name.lower() for name in names)


def _span(history: History, judged: Record | None) -> tuple[int, int]:
    """Where among the events the statement was launched, and where it ended."""
    step = None if judged is None else judged.step
    places = [place for place, event in enumerate(history.events) if event.step == step]
    return (places[0], places[-1]) if places else (len(history.events), len(history.events))


def _moves_key(history: History, shape: Shape) -> bool:
    if shape.verb is not Verb.UPDATE or shape.target is None:
        return False
    keys = {
        column.lower()
        for table in history.schema.tables
        if table.name.lower() == shape.target.lower()
        for index in table.indexes
        if index.unique or index.primary
        for column in index.columns
    }
    return any(item.this.name.lower() in keys for item in shape.tree.expressions)
