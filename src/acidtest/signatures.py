"""What makes two findings the same bug: what went wrong, at what kind of statement, and what others had done.

A signature is told from a history and a verdict alone and knows no DBMS, level, table, value or oracle, so
the same bug has the same one at every level, on every version and in every case that was reduced far enough.
What reduction still has to remove shows as causes too many; that is why its gate asks `may_become`, and only
the order of statements is changed under the whole signature.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

from acidtest.model import (
    Affected,
    CrashWitness,
    EventKind,
    Failed,
    History,
    Record,
    Rows,
    TransactionState,
    Undone,
    Verdict,
    ViolationKind,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Locking, Shape, Verb, shape_of

SERVER, FINAL_STATE = "server", "final state"
OF_A_KEY = " of a key"


@dataclass(frozen=True, slots=True)
class Signature:
    """`kind` is what went wrong, `statement` the kind of statement at which it shows; `causes` are the writes
    of the transaction itself and of others that went before it or fell into its wait."""

    kind: str
    statement: str
    waited: bool
    causes: frozenset[str]

    @property
    def text(self) -> str:
        """The signature in one line."""
        waits = " that waited" if self.waited else ""
        causes = ", ".join(sorted(self.causes)) or "nothing else"
        return f"{self.kind} at {self.statement}{waits} after {causes}"

    @property
    def digest(self) -> str:
        """A short name."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {**asdict(self), "causes": sorted(self.causes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """What was stored."""
        return cls(**{**data, "causes": frozenset(data["causes"])})

    def may_become(self, other: "Signature") -> bool:
        """Whether a smaller case with that signature can still be the same bug: nothing new has come in. That
        the update was one of a key may have been an accident."""
        weakened = {one.replace(OF_A_KEY, "") for one in self.causes}
        return self.looks_like(other) and other.causes <= self.causes | weakened

    def looks_like(self, other: "Signature") -> bool:
        """Whether the same went wrong at the same kind of statement, whatever the causes."""
        return (self.kind, self.statement, self.waited) == (other.kind, other.statement, other.waited)

    def is_but_for_a_key(self, other: "Signature") -> bool:
        """Whether the other one has just the same causes, some of them (not all) no longer of a key."""
        keyed = [one for one in self.causes if OF_A_KEY in one]
        left = [one for one in other.causes if OF_A_KEY in one]
        return self.may_become(other) and len(self.causes) == len(other.causes) and 0 < len(left) < len(keyed)


def signature_of(history: History, verdict: Verdict) -> Signature:
    """The signature of a violation."""
    assert verdict.violation is not None
    if isinstance(verdict.violation.witness, CrashWitness):
        return Signature(f"{verdict.kind}: {_crash(verdict.violation.witness)}", SERVER, False, frozenset())
    record = None if verdict.step is None else history.records[verdict.step]
    detail = _error_detail(record) if verdict.kind is ViolationKind.WRONG_ERROR else ""
    return Signature(
        kind=f"{verdict.kind}{detail}",
        statement=FINAL_STATE if record is None else _statement_class(history, record),
        waited=record is not None and record.waited,
        causes=_causes(history, record, locks=verdict.kind is ViolationKind.MISSING_BLOCK),
    )


def _crash(witness: CrashWitness) -> str:
    return "the server died" if witness.died or witness.error is None else witness.error.value


def _error_detail(record: Record | None) -> str:
    failed = record is not None and isinstance(record.outcome, Failed)
    return f": {record.outcome.kind.value}" if failed else ": none"  # type: ignore[union-attr]


def _shape(history: History, record: Record) -> Shape | None:
    return shape_of(record.sql, history.dbms)


def _statement_class(history: History, record: Record) -> str:
    """UPDATE and DELETE find their rows in the same way, and so do all locking reads. A read that waited is
    one, whatever it says."""
    shape = _shape(history, record)
    if shape is None:
        return kind_of(record.sql).value
    if shape.verb is Verb.READ:
        return "plain read" if shape.locking is Locking.NONE and not record.waited else "locking read"
    return "insert" if shape.verb is Verb.INSERT else "update or delete"


def _causes(history: History, judged: Record | None, *, locks: bool) -> frozenset[str]:
    """The writes (with `locks` also the locking reads) that can have to do with it, each in a few words: what
    was done, whether it fell into the wait, and what had become of it when the judged statement ended."""
    tables = _tables(history, judged)
    launched, ended = _span(history, judged)
    own = None if judged is None else judged.session
    acts: dict[str, list[str]] = {session: [] for session in history.levels}
    causes: set[str] = set()

    def left_as(session: str, fate: str) -> None:
        causes.update(act + fate for act in acts[session])  # by whom matters only while it goes on
        acts[session].clear()

    for place, event in enumerate(history.events[:ended]):
        record = history.records[event.step]
        if event.kind is EventKind.ABORTED:
            left_as(event.session, " rolled back")
        elif event.kind is EventKind.COMPLETED and record is not judged:
            act = _act(history, record, tables, locks=locks)
            if act is not None:
                acts[event.session].append(act + (" while it waited" if place > launched else ""))
            if record.after is TransactionState.NONE:
                left_as(event.session, " rolled back" if _is_rollback(record) else "")
    if own is not None:
        causes.update(f"own {act}" for act in acts.pop(own))
    for session in acts:
        left_as(session, " still open" if judged is not None else " rolled back")
    return frozenset(causes)


def _is_rollback(record: Record) -> bool:
    """Whether the transaction that ended with it was undone, by wish or by an error."""
    if isinstance(record.outcome, Failed):
        return record.outcome.undone in (Undone.TRANSACTION, Undone.CONNECTION)
    return kind_of(record.sql) is StatementKind.ROLLBACK


def _tables(history: History, judged: Record | None) -> frozenset[str]:
    """The tables that it may have to do with, in lower case."""
    shape = None if judged is None else _shape(history, judged)
    return _folded(shape.reads if shape is not None else (table.name for table in history.schema.tables))


def _folded(names: Iterable[str]) -> frozenset[str]:
    """Some DBMSs tell `T` and `t` apart; a case in which that matters is none that we know how to judge."""
    return frozenset(name.lower() for name in names)


def _span(history: History, judged: Record | None) -> tuple[int, int]:
    """Where among the events the statement was launched, and where it ended."""
    step = None if judged is None else judged.step
    places = [place for place, event in enumerate(history.events) if event.step == step]
    return (places[0], places[-1]) if places else (len(history.events), len(history.events))


def _act(history: History, record: Record, tables: frozenset[str], *, locks: bool) -> str | None:
    """What a statement did to these tables in two or three words; None if nothing."""
    shape = _shape(history, record)
    if shape is None:
        return None
    if shape.verb is Verb.READ:
        took = shape.locking is not Locking.NONE and isinstance(record.outcome, Rows) and record.outcome.rows
        return "locking read" if locks and took and tables & _folded(shape.reads) else None
    if shape.target is None or shape.target.lower() not in tables:
        return None
    if isinstance(record.outcome, Failed):  # it may have left something behind, if it did not end it all
        return f"{shape.verb.value} that failed" if record.outcome.undone is Undone.STATEMENT else None
    if not isinstance(record.outcome, Affected):
        return None
    # A matched row counts: that nothing was written although a row was found is what some bugs are about.
    if not (record.outcome.count or record.outcome.matched) and shape.verb is not Verb.UPDATE:
        return None
    return shape.verb.value + (OF_A_KEY if _moves_key(history, shape) else "")


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
