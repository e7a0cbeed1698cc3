"""Engines that never wait: one writer at a time (SQLite), rows that refuse a second writer (DuckDB), and
writes that are checked at COMMIT (TiDB's optimistic transactions)."""

from acidtest.evaluator.writes import UniqueIndex
from acidtest.model import ErrorKind, Row
from acidtest.simulated.faults import Planted
from acidtest.simulated.locks import LockTable
from acidtest.simulated.plans import WritePlan
from acidtest.simulated.problems import StatementFailed
from acidtest.simulated.snapshots import faults as planted
from acidtest.simulated.snapshots.worker import Key, Keys, SnapshotWorker
from acidtest.simulated.storage import Database, Heap, StoredRow, Transaction, Version
from acidtest.simulated.visibility import was_committed
from acidtest.simulated.worker import Attempt, Chosen, Test, Views
from acidtest.sql.shape import Verb


class OneWriterWorker(SnapshotWorker):
    """Who writes first is the only writer until it ends, and its snapshot has to be the newest."""

    skips_unchanged = True

    def __init__(self, database: Database, locks: LockTable, faults: Planted) -> None:
        super().__init__(database, locks, faults)
        self._writer: Transaction | None = None

    def ended(self, transaction: Transaction, committed: bool) -> None:
        del committed
        if self._writer is transaction:
            self._writer = None

    def went_back(self, transaction: Transaction) -> None:
        super().went_back(transaction)
        if self._planted.has(planted.SAVEPOINT_ENDS_WRITING) and self._writer is transaction:
            self._writer = None

    def _start_writing(self, attempt: Attempt) -> None:
        transaction = attempt.transaction
        if self._needs_no_turn(attempt):
            return
        if self._writer not in (None, transaction):
            self._forget_first(attempt)
            raise StatementFailed(ErrorKind.LOCK_NOT_AVAILABLE, "another transaction writes")
        stale = self._writer is None and attempt.point < self._database.clock
        if stale and not self._planted.has(planted.STALE_WRITER):
            raise StatementFailed(ErrorKind.SERIALIZATION_FAILURE, "the snapshot is not the newest")
        if not self._planted.has(planted.WRITING_ENDS_WITH_STATEMENT):
            self._writer = transaction

    def _needs_no_turn(self, attempt: Attempt) -> bool:
        if self._planted.has(planted.SECOND_WRITER):
            return attempt.shape.verb is Verb.UPDATE
        return self._planted.has(planted.DELETE_NEEDS_NO_TURN) and attempt.shape.verb is Verb.DELETE

    def _forget_first(self, attempt: Attempt) -> None:
        """A first statement that is refused leaves no snapshot behind."""
        if attempt.opens:
            attempt.transaction.snapshot = None

    def _settle(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        del attempt, test
        return found

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        """Nobody else writes."""


class RefusingWorker(SnapshotWorker):
    """A row that another transaction wrote, unless the snapshot shows that, cannot be written."""

    skips_unchanged = True

    def _settle(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        del test
        for row in found:
            if not self._is_unchecked(attempt, row) and is_anothers(row, attempt):
                raise StatementFailed(ErrorKind.WRITE_CONFLICT, "another transaction wrote the row")
        return found

    def _is_unchecked(self, attempt: Attempt, row: StoredRow) -> bool:
        """Whether a fault overlooks conflicts over the row."""
        newest = newest_of(row)
        verb = attempt.shape.verb
        is_open = newest is not None and newest.committed_at is None
        is_deleted = newest is not None and newest.values is None
        return (
            (self._planted.has(planted.UPDATE_CONFLICTS_UNSEEN) and verb is Verb.UPDATE)
            or (self._planted.has(planted.DELETE_CONFLICTS_UNSEEN) and verb is Verb.DELETE)
            or (self._planted.has(planted.OPEN_CONFLICTS_UNSEEN) and is_open)
            or (self._planted.has(planted.COMMITTED_CONFLICTS_UNSEEN) and not is_open)
            or (self._planted.has(planted.DELETED_ROWS_UNSEEN) and is_deleted)
        )

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        del plan
        for index, key, _twin in () if self._planted.has(planted.KEYS_UNCHECKED) else keys:
            for row in heap.rows.values():
                if has_had_key(row, index, key) and is_anothers(row, attempt):
                    raise StatementFailed(ErrorKind.WRITE_CONFLICT, "another transaction wrote the key")


class OptimisticWorker(SnapshotWorker):
    """Writes stay with their transaction until COMMIT, which fails if another one wrote the rows since."""

    rows_are_keys = True
    skips_unchanged = True

    def __init__(self, database: Database, locks: LockTable, faults: Planted) -> None:
        super().__init__(database, locks, faults)
        self._locked: dict[Transaction, set[StoredRow]] = {}
        self._keys: dict[Transaction, list[tuple[Heap, UniqueIndex, Key]]] = {}

    def begin(self, transaction: Transaction, consistent_snapshot: bool) -> None:
        del consistent_snapshot
        if not self._planted.has(planted.SNAPSHOT_AFTER_BEGIN):
            transaction.snapshot = self._database.clock

    def ended(self, transaction: Transaction, committed: bool) -> None:
        del committed
        self._locked.pop(transaction, None)
        self._keys.pop(transaction, None)

    def before_commit(self, transaction: Transaction) -> None:
        super().before_commit(transaction)
        if transaction.snapshot is not None:
            self._check(transaction, transaction.snapshot)

    def _check(self, transaction: Transaction, point: int) -> None:
        written = self._checked(transaction)
        rows = {version.row for version in written} | self._locked.get(transaction, set())
        if any(_was_changed_since(row, transaction, point) for row in rows):
            raise StatementFailed(ErrorKind.WRITE_CONFLICT, "another transaction wrote a row and committed")
        for heap, index, key in self._keys.get(transaction, ()) if written else ():
            holders = [row for row in heap.rows.values() if has_had_key(row, index, key)]
            if any(_was_changed_since(row, transaction, point) for row in holders):
                raise StatementFailed(
                    ErrorKind.WRITE_CONFLICT, "another transaction wrote a key and committed"
                )

    def _checked(self, transaction: Transaction) -> list[Version]:
        """What it wrote, as far as it is compared with what others wrote."""
        log = transaction.log
        if self._planted.has(planted.COMMIT_UNCHECKED):
            return []
        if self._planted.has(planted.DELETES_UNCHECKED):
            return [version for version in log if version.values is not None]
        if self._planted.has(planted.FIRST_ROW_CHECKED_ONLY):
            return log[:1]
        return log

    def _locked_views(self, attempt: Attempt, tests: dict[str, Test]) -> Views:
        views: Views = {}
        for name, test in tests.items():
            found = self._found(attempt, self._database.heaps[name], test)
            if not attempt.transaction.implicit:
                self._locked.setdefault(attempt.transaction, set()).update(found)
            views[name] = list(found.values())
        return views

    def _living(self, attempt: Attempt, heap: Heap) -> list[tuple[int, Row]]:
        return heap.seen(self._exact(attempt))

    def _settle(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        del attempt, test
        return found

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        del plan
        if self._planted.has(planted.KEYS_UNCHECKED):
            return
        known = self._keys.setdefault(attempt.transaction, [])
        known += [(heap, index, key) for index, key, _twin in keys]


def newest_of(row: StoredRow) -> Version | None:
    """The newest version, committed or not."""
    return row.version(lambda version: not version.undone)


def has_had_key(row: StoredRow, index: UniqueIndex, key: Key) -> bool:
    """Whether a version of the row that counts has the key."""
    return any(
        not version.undone and version.values is not None and index.key(version.values) == key
        for version in row.versions
    )


def is_anothers(row: StoredRow, attempt: Attempt) -> bool:
    """Whether another transaction wrote the row, and the snapshot does not show it."""
    newest = newest_of(row)
    if newest is None or newest.writer is attempt.transaction:
        return False
    return not was_committed(newest, attempt.point)


def _was_changed_since(row: StoredRow, transaction: Transaction, point: int) -> bool:
    """Whether another transaction wrote the row and committed after that point."""
    return any(
        not version.undone
        and version.writer is not transaction
        and version.committed_at is not None
        and version.committed_at > point
        for version in row.versions
    )
