"""Engines that wait for the rows and keys that others have written, as PostgreSQL does.

At READ COMMITTED a statement that waited tests its condition again on the new versions of the rows it had
found; at REPEATABLE READ it fails if the other transaction committed.
"""

from acidtest.model import ErrorKind, Row
from acidtest.simulated import faults
from acidtest.simulated.locks import Mode, Request
from acidtest.simulated.plans import WritePart, WritePlan
from acidtest.simulated.problems import MustWait, StatementFailed
from acidtest.simulated.snapshots import faults as planted
from acidtest.simulated.snapshots.worker import Keys, SnapshotWorker
from acidtest.simulated.storage import Heap, StoredRow, Transaction
from acidtest.simulated.worker import Attempt, Chosen, Test, Views, matches
from acidtest.sql.shape import Locking, Patience, Verb

_WITHOUT_LOCK = {
    Verb.INSERT: faults.INSERT_WITHOUT_LOCK,
    Verb.UPDATE: faults.UPDATE_WITHOUT_LOCK,
    Verb.DELETE: faults.DELETE_WITHOUT_LOCK,
    Verb.READ: faults.FOR_UPDATE_WITHOUT_LOCK,
}


class WaitingWorker(SnapshotWorker):
    """Rows that were found are locked before anything else is done with them. There is no REPLACE."""

    def _start_writing(self, attempt: Attempt) -> None:
        if attempt.shape.replaces:
            raise StatementFailed(ErrorKind.SYNTAX, "there is no REPLACE here")

    def _settle(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        request = Request(self._locks, attempt.transaction)
        if not self._goes_unlocked(attempt):
            for row in found:
                request.lock(row, self._mode(attempt))
        self._take(request, attempt.shape.patience)
        return self._after_locks(attempt, found, test)

    def _after_locks(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        """What becomes of the rows that were found, now that nobody else can change them."""
        raise NotImplementedError

    def _mode(self, attempt: Attempt) -> Mode:
        return Mode.SHARE if attempt.shape.locking is Locking.SHARE else Mode.EXCLUSIVE

    def _goes_unlocked(self, attempt: Attempt) -> bool:
        return self._planted.has(_WITHOUT_LOCK[attempt.shape.verb])

    def _locked_views(self, attempt: Attempt, tests: dict[str, Test]) -> Views:
        views: Views = {}
        for name, test in tests.items():
            found = self._found(attempt, self._database.heaps[name], test)
            if attempt.shape.patience is Patience.SKIP:
                found = {row: values for row, values in found.items() if not self._is_taken(attempt, row)}
            if not attempt.waited:
                attempt.first_choice |= found
            views[name] = list(self._settle(attempt, found, test).values())
        return views

    def _is_taken(self, attempt: Attempt, row: StoredRow) -> bool:
        return bool(self._locks.blockers(attempt.transaction, row, self._mode(attempt)))

    def _take(self, request: Request, patience: Patience = Patience.WAIT) -> None:
        if request.blockers and patience is Patience.NOWAIT:
            raise StatementFailed(ErrorKind.LOCK_NOT_AVAILABLE, "a row is locked by another transaction")
        if request.blockers:
            raise MustWait(frozenset(request.blockers))
        request.grant()

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        request = Request(self._locks, attempt.transaction)
        for index, key, twin in keys:
            if not self._planted.has(faults.NO_UNIQUE_KEY_LOCK):
                request.mind((heap, index.name, key), Mode.EXCLUSIVE)
            if twin is not None and plan.overwrites:
                request.lock(heap.rows[twin], Mode.EXCLUSIVE)
        self._take(request)

    def _wrote(
        self, attempt: Attempt, row: StoredRow, part: WritePart, old: Row | None, new: Row | None
    ) -> None:
        if not self._goes_unlocked(attempt):
            self._locks.acquire(attempt.transaction, row, Mode.EXCLUSIVE)
        for index in part.checked.unique:
            keys = {index.key(values) if values else None for values in (old, new)}
            if len(keys) > 1:
                for key in keys - {None}:
                    self._locks.acquire(attempt.transaction, (row.heap, index.name, key), Mode.EXCLUSIVE)


class RecheckingWorker(WaitingWorker):
    """Every statement has a snapshot of its own, and tests again what changed while it waited."""

    def launch(self, transaction: Transaction) -> int:
        if not self._planted.has(planted.STATEMENT_SNAPSHOT_KEPT):
            transaction.snapshot = None
        return super().launch(transaction)

    def _after_locks(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        if self._planted.has(planted.RECHECK_FINDS_NEW_ROWS) and attempt.waited:
            attempt.point = self._database.clock
            heap = next((row.heap for row in found), None)
            return found if heap is None else self._found(attempt, heap, test)
        chosen = {row: self._rechecked(attempt, row, values, test) for row, values in found.items()}
        return {row: values for row, values in chosen.items() if values is not None}

    def _rechecked(self, attempt: Attempt, row: StoredRow, old: Row, test: Test) -> Row | None:
        """The row as it is now; None if it is gone or no longer matches."""
        version = row.version(self._visibility.current(attempt.transaction))
        if version is None or version is row.version(self._exact(attempt)):
            return self._unchanged(attempt, row, old)
        if self._planted.has(planted.RECHECK_LOSES_ROW):
            return None
        if self._planted.has(planted.RECHECK_OF_OLD_VERSION):
            return old
        if attempt.shape.verb is Verb.READ and self._planted.has(planted.READ_NOT_RECHECKED):
            return old
        if version.values is None:
            return old if self._planted.has(planted.RECHECK_REVIVES_ROW) else None
        if self._planted.has(planted.RECHECK_SKIPPED) or matches(test, version.values):
            return version.values
        return None

    def _unchanged(self, attempt: Attempt, row: StoredRow, old: Row) -> Row | None:
        """A row that nobody changed, or only somebody who took it back."""
        undone = [version for version in row.versions if version.undone and version.values is not None]
        if attempt.waited and undone and self._planted.has(planted.RECHECK_OF_UNDONE_VERSION):
            return undone[-1].values
        return old


class FailingWorker(WaitingWorker):
    """A row that another transaction changed after the snapshot cannot be written or locked any more."""

    def _after_locks(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        del test
        for row in found:
            if self._is_newer(attempt, row) and not self._is_let_pass(attempt, row):
                raise changed_since()
        chosen = {row: self._overwritten(attempt, row, values) for row, values in found.items()}
        return {row: values for row, values in chosen.items() if values is not None}

    def _is_newer(self, attempt: Attempt, row: StoredRow) -> bool:
        """Whether the row is another than the snapshot shows."""
        current = self._visibility.current(attempt.transaction)
        return row.version(current) is not row.version(self._exact(attempt))

    def _is_let_pass(self, attempt: Attempt, row: StoredRow) -> bool:
        """Whether a fault overlooks the conflict."""
        deleted = row.values(self._visibility.current(attempt.transaction)) is None
        verb = attempt.shape.verb
        return (
            (self._planted.has(planted.NEWER_ROW_WRITTEN) and not attempt.waited)
            or (self._planted.has(planted.WAITER_GOES_ON) and attempt.waited)
            or (self._planted.has(planted.DELETED_ROW_SKIPPED) and deleted)
            or (self._planted.has(planted.DELETE_OF_NEWER_ROW) and verb is Verb.DELETE)
            or (self._planted.has(planted.NEWER_ROW_LOCKED) and verb is Verb.READ)
        )

    def _overwritten(self, attempt: Attempt, row: StoredRow, values: Row) -> Row | None:
        """The values to work on; only faults come to rows that are newer than the snapshot."""
        if self._is_newer(attempt, row) and self._planted.has(planted.DELETED_ROW_SKIPPED):
            return None
        return values

    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        super()._meet_keys(attempt, heap, plan, keys)
        if self._planted.has(planted.UPSERT_OF_NEWER_ROW):
            return
        passes_over = plan.overwrites or attempt.shape.tree.args.get("ignore")
        for _index, _key, twin in keys:
            if twin is not None and passes_over and self._is_newer(attempt, heap.rows[twin]):
                raise changed_since()


def changed_since() -> StatementFailed:
    """What a transaction is told whose snapshot is too old for what it wants."""
    return StatementFailed(ErrorKind.SERIALIZATION_FAILURE, "a row was changed after the snapshot was taken")
