"""Locks that are surely held, by transactions that have not ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from acidtest.claims import Claim, Lock, TableLock
from acidtest.evaluator.writes import Effect
from acidtest.model import Row, Schema, Table
from acidtest.oracles.replay.clustered import clustered_index
from acidtest.sql.shape import Locking, Shape, Verb


@dataclass(frozen=True, slots=True)
class RowLock:
    """A lock of a transaction on a row, taken by a step."""

    holder: int
    table: str
    row: int
    mode: Lock
    step: int


@dataclass(frozen=True, slots=True)
class PredicateLock:
    """A lock of a transaction on a condition: nobody else may bring a row into it."""

    holder: int
    table: str
    sql: str
    shape: Shape
    step: int


@dataclass(frozen=True, slots=True)
class HeldTable:
    """A lock of a transaction on a table, taken by a step."""

    holder: int
    table: str
    mode: TableLock
    step: int


@dataclass(frozen=True, slots=True)
class UnknownLocks:
    """A step after which a transaction may hold more rows of a table than are booked."""

    holder: int
    table: str
    step: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a statement takes on the rows of a table: on each that it works on, and as a rule."""

    table: str
    rows: Mapping[int, Lock]
    mode: Lock


@dataclass(slots=True)
class LockTable:
    """All locks of transactions that have not ended."""

    rows: list[RowLock] = field(default_factory=list)
    predicates: list[PredicateLock] = field(default_factory=list)
    tables: list[HeldTable] = field(default_factory=list)
    unknown: list[UnknownLocks] = field(default_factory=list)
    waited_for_table: set[int] = field(default_factory=set)
    """Steps that began while somebody kept them away from their tables."""

    def conflict(self, asker: int, table: str, row: int, mode: Lock) -> RowLock | None:
        """A lock of another transaction that does not go together with this one."""
        for lock in self.rows:
            same_row = (lock.table, lock.row) == (table, row)
            if same_row and lock.holder != asker and lock.mode.conflicts_with(mode):
                return lock
        return None

    def table_conflict(self, asker: int, table: str, mode: TableLock) -> HeldTable | None:
        """A lock of another transaction on the table that does not go together with this one."""
        for lock in self.tables:
            if lock.table == table and lock.holder != asker and lock.mode.conflicts_with(mode):
                return lock
        return None

    def is_exact(self, asker: int, table: str) -> bool:
        """Whether all rows of the table that others hold are booked."""
        return not any(one.table == table and one.holder != asker for one in self.unknown)

    def release(self, holder: int, since_step: int = -1) -> None:
        """A transaction ended, or went back behind a step."""

        def stays(lock: RowLock | PredicateLock | HeldTable | UnknownLocks) -> bool:
            return lock.holder != holder or lock.step <= since_step

        self.rows = [lock for lock in self.rows if stays(lock)]
        self.predicates = [lock for lock in self.predicates if stays(lock)]
        self.tables = [lock for lock in self.tables if stays(lock)]
        self.unknown = [lock for lock in self.unknown if stays(lock)]


# -- which modes

_OF_CLAUSE = {
    Locking.KEY_SHARE: Lock.KEY_SHARE,
    Locking.NO_KEY_UPDATE: Lock.NO_KEY_UPDATE,
    Locking.UPDATE: Lock.EXCLUSIVE,
}


def mode_of_read(claim: Claim, shape: Shape) -> Lock:
    """What a locking read takes on its rows."""
    return _OF_CLAUSE.get(shape.locking, claim.share_lock)


def wanted_by_write(
    claim: Claim, table: Table, shape: Shape, effect: Effect, old: Mapping[int, Row]
) -> Wanted:
    """What a write surely takes on the rows of its target; `old` is what they held before."""
    modes = dict.fromkeys(effect.worked_on, Lock.EXCLUSIVE)
    if claim.key_locks and shape.verb is not Verb.DELETE:
        positions = key_positions(table)
        new = {change.row: change.values for change in effect.changes if not change.table}
        for row in modes:
            before, after = old.get(row), new.get(row)
            if row in new and after is None:
                continue  # it was deleted
            if before is None or after is None or all(before[i] == after[i] for i in positions):
                modes[row] = Lock.NO_KEY_UPDATE
    return Wanted(table.name, modes, Lock.EXCLUSIVE)


def wanted_by_references(claim: Claim, schema: Schema, effect: Effect) -> Iterator[Wanted]:
    """What a write surely takes on rows of other tables because of foreign keys."""
    new = {(change.table, change.row): change.values for change in effect.changes if change.table}
    for name in sorted({table for table, _ in effect.touched}):
        rows = [row for table, row in effect.touched if table == name]
        modes = {
            row: Lock.NO_KEY_UPDATE
            if claim.key_locks and new.get((name, row)) is not None
            else Lock.EXCLUSIVE
            for row in rows
        }
        yield Wanted(name, modes, Lock.EXCLUSIVE)
    shared = Lock.KEY_SHARE if claim.key_locks else claim.share_lock
    for name in sorted({table for table, _ in effect.referenced}):
        if claim.key_locks or _is_referred_to_by_clustered_key(schema, name):
            rows = [row for table, row in effect.referenced if table == name]
            yield Wanted(name, dict.fromkeys(rows, shared), shared)


def _is_referred_to_by_clustered_key(schema: Schema, name: str) -> bool:
    """Whether a lock on what foreign keys refer to is one on the row, not on an entry of another index."""
    clustered = clustered_index(schema.table(name))
    keys = [key.references for table in schema.tables for key in table.foreign_keys if key.table == name]
    return clustered is not None and all(key == clustered.columns for key in keys)


def key_positions(table: Table) -> frozenset[int]:
    """Positions of the columns that foreign keys may refer to: those of unique indexes on columns alone."""
    names = [column.name for column in table.columns]
    return frozenset(
        names.index(name)
        for index in table.indexes
        if index.unique and index.where is None and all(name in names for name in index.columns)
        for name in index.columns
    )


def table_locks_of(shape: Shape) -> dict[str, TableLock]:
    """What a statement surely takes on the tables it names."""
    modes = dict.fromkeys(shape.reads, TableLock.ACCESS_SHARE)
    if shape.locks and not any(clause.tables for clause in shape.locks):
        modes = dict.fromkeys(shape.reads, TableLock.ROW_SHARE) if shape.plain else modes
    return modes | dict.fromkeys(shape.writes, TableLock.ROW_EXCLUSIVE)
