"""Who holds what: locks of rows and unique keys, and predicate locks, all until the transaction ends."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum

from acidtest.model import Row
from acidtest.simulated import faults
from acidtest.simulated.faults import Planted
from acidtest.simulated.storage import Heap, Transaction

Matches = Callable[[Row], bool]


class Mode(Enum):
    """Share locks get along with each other, exclusive ones with none."""

    SHARE = "S"
    EXCLUSIVE = "X"


@dataclass(frozen=True, slots=True)
class PredicateLock:
    """Nobody but its holder may bring rows into the table that match."""

    holder: Transaction
    heap: Heap
    matches: Matches


class LockTable:
    """Resources are stored rows, and keys of unique indexes as tuples."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self._held: dict[Hashable, dict[Transaction, Mode]] = {}
        self._predicates: list[PredicateLock] = []

    def blockers(self, transaction: Transaction, resource: Hashable, mode: Mode) -> set[Transaction]:
        """Others whose lock of the resource excludes this one."""
        held = self._held.get(resource, {})
        return {
            holder
            for holder, other in held.items()
            if holder is not transaction and self._conflict(other, mode)
        }

    def _conflict(self, held: Mode, wanted: Mode) -> bool:
        if self._planted.has(faults.SHARE_DOES_NOT_EXCLUDE) and held is Mode.SHARE:
            return False
        return Mode.EXCLUSIVE in (held, wanted)

    def acquire(self, transaction: Transaction, resource: Hashable, mode: Mode) -> None:
        """Take a lock, or strengthen one that is held."""
        holders = self._held.setdefault(resource, {})
        if holders.get(transaction) is not Mode.EXCLUSIVE:
            holders[transaction] = mode

    def guard(self, lock: PredicateLock) -> None:
        """Take a predicate lock."""
        self._predicates.append(lock)

    def intruded(self, transaction: Transaction, heap: Heap, old: Row | None, new: Row) -> set[Transaction]:
        """Others whose predicate a row would come to match."""
        return {
            lock.holder
            for lock in self._predicates
            if lock.heap is heap
            and lock.holder is not transaction
            and lock.matches(new)
            and not (old is not None and lock.matches(old))
        }

    def release(self, transaction: Transaction) -> None:
        """Give back all that the transaction holds."""
        for resource in [one for one, holders in self._held.items() if transaction in holders]:
            del self._held[resource][transaction]
            if not self._held[resource]:
                del self._held[resource]
        self._predicates = [lock for lock in self._predicates if lock.holder is not transaction]


@dataclass(slots=True)
class Request:
    """Locks that a statement needs next, and who stands in the way."""

    table: LockTable
    transaction: Transaction
    locks: list[tuple[Hashable, Mode]] = field(default_factory=list)
    guards: list[PredicateLock] = field(default_factory=list)
    blockers: set[Transaction] = field(default_factory=set)

    def lock(self, resource: Hashable, mode: Mode) -> None:
        """Ask for a lock."""
        self.locks.append((resource, mode))
        self.mind(resource, mode)

    def mind(self, resource: Hashable, mode: Mode) -> None:
        """Wait for those who hold the resource, without need of a lock after that."""
        self.blockers |= self.table.blockers(self.transaction, resource, mode)

    def guard(self, heap: Heap, matches: Matches) -> None:
        """Ask that nobody brings in rows that match."""
        self.guards.append(PredicateLock(self.transaction, heap, matches))

    def grant(self) -> None:
        """Take all."""
        for resource, mode in self.locks:
            self.table.acquire(self.transaction, resource, mode)
        for guard in self.guards:
            self.table.guard(guard)
