"""Locks that are surely held: what a statement took on the rows it worked on, until its transaction ends."""

from dataclasses import dataclass, field

from acidtest.claims import Lock
from acidtest.sql.shape import Shape


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


@dataclass(slots=True)
class LockTable:
    """All locks of transactions that have not ended."""

    rows: list[RowLock] = field(default_factory=list)
    predicates: list[PredicateLock] = field(default_factory=list)

    def conflict(self, asker: int, table: str, row: int, mode: Lock) -> RowLock | None:
        """A lock of another transaction that does not go together with this one."""
        if mode is Lock.NONE:
            return None
        for lock in self.rows:
            same_row = (lock.table, lock.row) == (table, row)
            if same_row and lock.holder != asker and Lock.EXCLUSIVE in (lock.mode, mode):
                return lock
        return None

    def release(self, holder: int, since_step: int = -1) -> None:
        """A transaction ended, or went back behind a step."""
        self.rows = [lock for lock in self.rows if lock.holder != holder or lock.step <= since_step]
        self.predicates = [
            lock for lock in self.predicates if lock.holder != holder or lock.step <= since_step
        ]
