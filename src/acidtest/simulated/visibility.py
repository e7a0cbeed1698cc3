"""Which version of a row a statement sees."""

from acidtest.model import Level, Row
from acidtest.simulated import faults
from acidtest.simulated.faults import Planted
from acidtest.simulated.storage import Database, Heap, Sees, Transaction, Version


class Visibility:
    """Answers with functions of a version, one for each way of looking."""

    def __init__(self, database: Database, planted: Planted) -> None:
        self._database = database
        self._planted = planted

    def plain(self, transaction: Transaction) -> Sees:
        """What a plain read sees; at REPEATABLE READ the first one takes the snapshot."""
        if transaction.level is Level.READ_UNCOMMITTED:
            return _anything
        if transaction.level is Level.READ_COMMITTED and self._planted.has(faults.DIRTY_READ):
            return _anything
        return self._snapshot(transaction, self._snapshot_point(transaction))

    def current(self, transaction: Transaction) -> Sees:
        """What writes and locking reads see: the newest committed version, and their own."""
        return lambda version: (
            not version.undone and (version.committed_at is not None or version.writer is transaction)
        )

    def at(self, transaction: Transaction, point: int) -> Sees:
        """What a plain read sees in a snapshot of that point, and of its own."""
        return _anything if self._planted.has(faults.DIRTY_READ) else self._snapshot(transaction, point)

    def exactly_at(self, transaction: Transaction, point: int) -> Sees:
        """The same for writes and locking reads, which no fault of plain reads misleads."""
        return lambda version: (
            not version.undone and (version.writer is transaction or was_committed(version, point))
        )

    def begin(self, transaction: Transaction, consistent_snapshot: bool) -> None:
        """A transaction begins with BEGIN."""
        at_once = consistent_snapshot or self._planted.has(faults.SNAPSHOT_AT_BEGIN)
        if at_once and transaction.level is Level.REPEATABLE_READ:
            self._snapshot_point(transaction)

    def kept_snapshot(self, transaction: Transaction) -> Sees | None:
        """What the snapshot of the transaction shows, if it has taken one."""
        if transaction.snapshot is None:
            return None
        return self._snapshot(transaction, transaction.snapshot)

    def _snapshot_point(self, transaction: Transaction) -> int:
        """The last commit that the coming read sees."""
        keeps = transaction.level is Level.REPEATABLE_READ
        if self._planted.has(faults.NEW_SNAPSHOT_EACH_READ):
            keeps = False
        if self._planted.has(faults.STALE_SNAPSHOT) and transaction.level is Level.READ_COMMITTED:
            keeps = True
        if keeps and transaction.snapshot is not None:
            return transaction.snapshot
        transaction.snapshot = self._database.clock
        if self._planted.has(faults.SNAPSHOT_TOO_OLD):
            transaction.snapshot = max(0, transaction.snapshot - 1)
        return transaction.snapshot

    def _snapshot(self, transaction: Transaction, point: int) -> Sees:
        planted = self._planted

        def sees(version: Version) -> bool:
            own = version.writer is transaction
            if planted.has(faults.ABORTED_READ) and version.undone and version.writer.rolled_back:
                return not own
            if planted.has(faults.OWN_WRITE_UNSEEN) and own:
                return False
            if planted.has(faults.OWN_DELETED_ROW_SEEN) and own and version.values is None:
                return False
            if planted.has(faults.DELETED_ROW_SEEN) and not own and version.values is None:
                return False
            if planted.has(faults.INTERMEDIATE_READ) and not own and _is_later_version(version):
                return False
            return not version.undone and (own or was_committed(version, point))

        return sees


def was_committed(version: Version, point: int) -> bool:
    """Whether it was committed by that point."""
    return version.committed_at is not None and version.committed_at <= point


def rows_of(heap: Heap, sees: Sees) -> list[Row]:
    """The rows of a table as they are seen."""
    return [values for _, values in heap.seen(sees)]


def _anything(version: Version) -> bool:
    return not version.undone


def _is_later_version(version: Version) -> bool:
    """Whether the same transaction wrote the row before."""
    first = next(one for one in version.row.versions if one.writer is version.writer)
    return first is not version
