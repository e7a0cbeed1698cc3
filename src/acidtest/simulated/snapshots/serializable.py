"""Serializable snapshot isolation: transactions whose conflicts may close a circle are made to fail.

Every circle has a pivot: a transaction that another one reads past, and that itself reads past a third,
where the third commits first (Fekete et al., "Making Snapshot Isolation Serializable", 2005; Cahill et al.,
2008). Conflicts are found by comparing all conditions that a transaction looked for with all rows that others
wrote, so a transaction may fail in vain where its condition had other reasons to match.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from acidtest.evaluator.writes import UniqueIndex
from acidtest.model import Affected, ErrorKind, Row, Rows
from acidtest.simulated.faults import Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import WritePlan
from acidtest.simulated.problems import StatementFailed
from acidtest.simulated.snapshots import faults as planted
from acidtest.simulated.snapshots.waiting import FailingWorker, changed_since
from acidtest.simulated.snapshots.worker import Key, Keys
from acidtest.simulated.storage import Database, Heap, StoredRow, Transaction, Version
from acidtest.simulated.worker import Attempt, Test, every_row, matches
from acidtest.sql.shape import Verb


@dataclass(frozen=True, slots=True)
class Look:
    """A condition that a statement looked for in a table; `rows` are those that it found then."""

    heap: Heap
    test: Test
    rows: frozenset[StoredRow]


@dataclass(slots=True)
class Span:
    """A transaction from its snapshot to its end, by the number of the event, and what it looked for."""

    transaction: Transaction
    started: int
    ended: int | None = None
    looks: list[Look] = field(default_factory=list)

    def overlaps(self, other: "Span") -> bool:
        """Whether neither was over when the other began."""
        return (self.ended is None or self.ended > other.started) and (
            other.ended is None or other.ended > self.started
        )

    def committed_before(self, other: "Span") -> bool:
        """Whether it committed first."""
        return self.ended is not None and (other.ended is None or self.ended < other.ended)


class SerializableWorker(FailingWorker):
    """Keeps book of what was read and written, until no concurrent transaction is left."""

    def __init__(self, database: Database, locks: LockTable, faults: Planted) -> None:
        super().__init__(database, locks, faults)
        self._spans: dict[Transaction, Span] = {}
        self._events = 0

    # -- keeping book

    def launch(self, transaction: Transaction) -> int:
        if all(span.ended is not None for span in self._spans.values()):
            self._spans.clear()  # none of them can be concurrent to what comes
        if transaction not in self._spans:
            self._spans[transaction] = Span(transaction, self._next_event())
        return super().launch(transaction)

    def ended(self, transaction: Transaction, committed: bool) -> None:
        span = self._spans.get(transaction)
        if span is None:
            return
        if committed:
            span.ended = self._next_event()
            if self._planted.has(planted.READS_END_WITH_COMMIT):
                span.looks.clear()
        else:
            del self._spans[transaction]

    def went_back(self, transaction: Transaction) -> None:
        super().went_back(transaction)
        if self._planted.has(planted.SAVEPOINT_FORGETS_READS) and transaction in self._spans:
            self._spans[transaction].looks.clear()

    def _next_event(self) -> int:
        self._events += 1
        return self._events

    def _saw(self, attempt: Attempt, heap: Heap, test: Test) -> None:
        forgets = (
            (
                self._planted.has(planted.CONDITIONS_OF_WRITES_FORGOTTEN)
                and attempt.shape.verb is not Verb.READ
            )
            or (self._planted.has(planted.WHOLE_READS_FORGOTTEN) and test is every_row)
            or (self._planted.has(planted.READ_ONLY_READS_FORGOTTEN) and not attempt.transaction.log)
        )
        if not forgets:
            self._look(attempt, heap, test)

    def _look(self, attempt: Attempt, heap: Heap, test: Test) -> None:
        look = Look(heap, test, frozenset(self._found(attempt, heap, test)))
        self._spans[attempt.transaction].looks.append(look)

    # -- keys

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        super()._meet_keys(attempt, heap, plan, keys)
        for index, key, twin in keys:
            has_key = _has_key(index, key)
            if any(self._is_newer(attempt, row) for row in self._found(attempt, heap, has_key)):
                raise changed_since()  # the key came free after the snapshot
            if twin is None or not self._planted.has(planted.TAKEN_KEYS_FORGOTTEN):
                self._look(attempt, heap, has_key)

    # -- dangerous structures

    def _run(self, attempt: Attempt) -> Rows | Affected:
        outcome = super()._run(attempt)
        self._check(attempt.transaction)
        return outcome

    def before_commit(self, transaction: Transaction) -> None:
        super().before_commit(transaction)
        if transaction in self._spans and not self._planted.has(planted.COMMIT_UNCHECKED):
            self._check(transaction)

    def _check(self, transaction: Transaction) -> None:
        """Fail if a commit at this moment could close a circle."""
        own = self._spans[transaction]
        others = [span for span in self._spans.values() if span.ended is not None]
        pivots = [own] if self._planted.has(planted.COMMITTED_PIVOT_FORGOTTEN) else [own, *others]
        for pivot in pivots:
            for first in (one for one in others if self._reads_past(pivot, one)):
                if self._is_dangerous(own, pivot, first, others):
                    raise StatementFailed(ErrorKind.SERIALIZATION_FAILURE, "its conflicts may close a circle")

    def _is_dangerous(self, own: Span, pivot: Span, first: Span, others: list[Span]) -> bool:
        """Whether somebody reads past the pivot, `first` commits first, and `own` has a part in it."""
        if not first.committed_before(pivot):
            return False
        readers = [span for span in (own, *others) if span is not pivot]
        if self._planted.has(planted.CIRCLES_OF_TWO_FORGOTTEN):
            readers = [span for span in readers if span is not first]
        return any(
            own in (pivot, reader)
            and (reader is first or first.committed_before(reader))
            and self._reads_past(reader, pivot)
            for reader in readers
        )

    def _reads_past(self, reader: Span, writer: Span) -> bool:
        """Whether a transaction looked for rows that a concurrent one changed, and did not see the change."""
        if not reader.overlaps(writer):
            return False
        return any(
            self._affects(version, look)
            for version in writer.transaction.log
            for look in reader.looks
            if version.row.heap is look.heap
        )

    def _affects(self, version: Version, look: Look) -> bool:
        if self._planted.has(planted.DELETES_UNCHECKED) and version.values is None:
            return False
        if self._planted.has(planted.PREDICATES_FORGOTTEN):
            return version.row in look.rows
        return any(matches(look.test, values) for values in _before_and_after(version))


def _before_and_after(version: Version) -> Iterator[Row]:
    """The values of a row before and after a write."""
    place = version.row.versions.index(version)
    older = [one for one in version.row.versions[:place] if not one.undone]
    for one in (*older[-1:], version):
        if one.values is not None:
            yield one.values


def _has_key(index: UniqueIndex, key: Key) -> Test:
    return lambda row: index.key(row) == key
