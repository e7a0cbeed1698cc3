"""Which transaction of an observed run a step belongs to, what became of it, and what it took back."""

from dataclasses import dataclass, field

from acidtest.model import (
    Affected,
    Failed,
    History,
    Indeterminate,
    Record,
    Rows,
    TransactionState,
    Undone,
)
from acidtest.model.trace import Fate
from acidtest.sql import StatementKind, kind_of


@dataclass(slots=True)
class Observed:
    """A transaction as it was seen: its steps in order, and those whose writes were taken back."""

    id: int
    session: str
    fate: Fate = Fate.OPEN
    steps: list[int] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    ended_at: int | None = None
    """The place of its end among the completed steps."""


@dataclass(slots=True)
class Transactions:
    """All transactions, and the place of every completed step."""

    all: list[Observed] = field(default_factory=list)
    of_step: dict[int, Observed] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)


def transactions_of(history: History) -> Transactions:
    """Read off the records who was in which transaction; the server itself said where sessions stood."""
    found = Transactions()
    open_ones: dict[str, Observed] = {}
    savepoints: dict[str, list[tuple[str, int]]] = {}
    records = {record.step: record for record in history.records}
    for place, step in enumerate(history.observed_order):
        record = records[step]
        found.places[step] = place
        own = open_ones.get(record.session)
        begins = kind_of(record.sql) is StatementKind.BEGIN
        if own is not None and (record.before is TransactionState.NONE or begins):
            _end(own, Fate.COMMITTED, place)  # BEGIN and other statements may commit what was open
            own = None
        if own is None:
            own = Observed(len(found.all) + 1, record.session)
            found.all.append(own)
            savepoints[record.session] = []
        found.of_step[step] = own
        own.steps.append(step)
        _note_savepoint(record, own, savepoints[record.session])
        _note_error(record, own, savepoints[record.session])
        if record.after is TransactionState.NONE:
            _end(own, _fate(record), place)
            open_ones.pop(record.session, None)
        else:
            open_ones[record.session] = own
    return found


def _end(own: Observed, fate: Fate, place: int) -> None:
    own.fate, own.ended_at = fate, place


def _fate(record: Record) -> Fate:
    """What became of a transaction that is over after a step."""
    outcome, kind = record.outcome, kind_of(record.sql)
    if isinstance(outcome, Indeterminate):
        return Fate.INDETERMINATE
    if record.before is TransactionState.FAILED or not isinstance(outcome, Rows | Affected):
        return Fate.ABORTED
    return Fate.ABORTED if kind is StatementKind.ROLLBACK else Fate.COMMITTED


def _note_savepoint(record: Record, own: Observed, savepoints: list[tuple[str, int]]) -> None:
    if kind_of(record.sql) is not StatementKind.SAVEPOINT or not isinstance(record.outcome, Rows | Affected):
        return
    words = record.sql.upper().replace("WORK", " ").replace("TRANSACTION", " ").split()
    name = words[-1].strip('`";')
    if words[0] == "SAVEPOINT":
        savepoints.append((name, record.step))
    elif words[0] == "ROLLBACK":
        marks = [step for known, step in savepoints if known == name]
        if marks:
            own.undone |= {step for step in own.steps if step > marks[-1]}


def _note_error(record: Record, own: Observed, savepoints: list[tuple[str, int]]) -> None:
    """A failed statement changed nothing; a failed transaction is back at its last savepoint."""
    if isinstance(record.outcome, Rows | Affected):
        return
    own.undone.add(record.step)
    lost = isinstance(record.outcome, Failed) and record.outcome.undone is Undone.TRANSACTION
    if lost and record.after is TransactionState.FAILED:
        mark = savepoints[-1][1] if savepoints else -1
        own.undone |= {step for step in own.steps if step > mark}
