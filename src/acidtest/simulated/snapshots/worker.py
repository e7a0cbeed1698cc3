"""What engines on snapshots share: statements look at a snapshot, and write if no conflict is in the way."""

from abc import abstractmethod
from collections.abc import Sequence

from acidtest.evaluator.writes import Change, Effect, UniqueIndex
from acidtest.model import Affected, ErrorKind, Row, Rows
from acidtest.simulated import faults
from acidtest.simulated.plans import ReadPlan, WritePart, WritePlan
from acidtest.simulated.problems import StatementFailed, unsupported
from acidtest.simulated.snapshots import faults as planted
from acidtest.simulated.storage import Heap, Sees, StoredRow, Transaction
from acidtest.simulated.visibility import rows_of
from acidtest.simulated.worker import (
    Attempt,
    Chosen,
    Test,
    Views,
    Worker,
    affected,
    every_row,
    matches,
    raise_first_error,
    succeeded,
)
from acidtest.sql.shape import Locking, Verb

Key = tuple[object, ...]
Keys = list[tuple[UniqueIndex, Key, int | None]]
"""Keys that a write brings into a table: of which index, and which row that lives has it already."""


class SnapshotWorker(Worker):
    """A transaction keeps the snapshot of its first statement."""

    skips_unchanged = False
    """Whether an UPDATE that leaves a row as it is writes nothing."""

    # -- snapshots

    def begin(self, transaction: Transaction, consistent_snapshot: bool) -> None:
        if consistent_snapshot or self._planted.has(planted.SNAPSHOT_AT_BEGIN):
            transaction.snapshot = self._database.clock

    def launch(self, transaction: Transaction) -> int:
        if transaction.snapshot is None or self._has_moving_snapshot(transaction):
            transaction.snapshot = self._database.clock
        return transaction.snapshot

    def _has_moving_snapshot(self, transaction: Transaction) -> bool:
        if self._planted.has(planted.SNAPSHOT_MOVES):
            return True
        return self._planted.has(planted.SNAPSHOT_MOVES_WITH_WRITES) and bool(transaction.log)

    def went_back(self, transaction: Transaction) -> None:
        if self._planted.has(planted.SNAPSHOT_LOST_AT_SAVEPOINT):
            transaction.snapshot = None

    def before_commit(self, transaction: Transaction) -> None:
        self._database.put_last(transaction)

    def _exact(self, attempt: Attempt) -> Sees:
        return self._visibility.exactly_at(attempt.transaction, attempt.point)

    # -- what engines differ in

    @abstractmethod
    def _settle(self, attempt: Attempt, found: Chosen, test: Test) -> Chosen:
        """The rows that a write may work on, of those it found; it waits or fails over conflicts."""

    @abstractmethod
    def _meet_keys(self, attempt: Attempt, heap: Heap, plan: WritePlan, keys: Keys) -> None:
        """Wait or fail if others have a hand on keys that are to be written."""

    def _start_writing(self, attempt: Attempt) -> None:
        """Fail if the transaction may not write at all."""

    def _saw(self, attempt: Attempt, heap: Heap, test: Test) -> None:
        """A statement has looked for rows that match."""

    def _locked_views(self, attempt: Attempt, tests: dict[str, Test]) -> Views:
        """What a locking read shows."""
        del attempt, tests
        raise StatementFailed(ErrorKind.SYNTAX, "there are no locking reads here")

    def _living(self, attempt: Attempt, heap: Heap) -> list[tuple[int, Row]]:
        """The rows against which unique keys are checked."""
        return heap.seen(self._visibility.current(attempt.transaction))

    # -- reads

    def _read(self, attempt: Attempt, plan: ReadPlan) -> Rows:
        tests = {name: test.bind() if test else every_row for name, test in plan.scans.items()}
        if attempt.shape.locking is Locking.NONE:
            sees = self._visibility.at(attempt.transaction, attempt.point)
            views: Views = {name: rows_of(self._database.heaps[name], sees) for name in tests}
        else:
            views = self._locked_views(attempt, tests)
        for name, test in tests.items():
            self._saw(attempt, self._database.heaps[name], test)
        return Rows(plan.columns, plan.query.run(views).rows)

    def _found(self, attempt: Attempt, heap: Heap, test: Test) -> Chosen:
        sees = self._exact(attempt)
        if self._planted.has(faults.WRITE_IGNORES_OWN_WRITES):
            own = attempt.transaction
            sees = lambda version: version.writer is not own and self._exact(attempt)(version)  # noqa: E731
        rows = ((row, row.values(sees)) for row in heap.rows.values())
        return {row: values for row, values in rows if values is not None and matches(test, values)}

    # -- writes

    def _write(self, attempt: Attempt, plan: WritePlan) -> Affected:
        assert attempt.shape.target is not None
        heap = self._database.heaps[attempt.shape.target]
        self._start_writing(attempt)
        views: Views = {}
        for name in plan.sources:
            views[name] = rows_of(self._database.heaps[name], self._exact(attempt))
            self._saw(attempt, self._database.heaps[name], every_row)
        chosen = self._choose(attempt, heap, plan, views)
        raise_first_error(plan, chosen, views)
        count = sum(self._write_part(attempt, heap, plan, part, views, chosen) for part in plan.parts)
        return affected(attempt, count, chosen)

    def _choose(self, attempt: Attempt, heap: Heap, plan: WritePlan, views: Views) -> Chosen:
        if plan.chooses is None:
            return {}
        test = plan.chooses.bind(views)
        found = self._found(attempt, heap, test)
        if not attempt.waited:
            attempt.first_choice = found
        chosen = self._settle(attempt, found, test)
        self._saw(attempt, heap, test)
        return chosen

    def _write_part(
        self, attempt: Attempt, heap: Heap, plan: WritePlan, part: WritePart, views: Views, chosen: Chosen
    ) -> int:
        """Write what belongs together; the affected count."""
        living = self._living(attempt, heap)
        work = [(row.number, values) for row, values in chosen.items()]
        number = heap.next_number
        wanted = succeeded(part.unchecked.run(work, living, views, number))
        if any(change.table not in ("", heap.table.name) for change in wanted.changes):
            raise unsupported("a write of several tables")
        self._meet_keys(attempt, heap, plan, _new_keys(part, wanted, living))
        effect = part.checked.run(work, living, views, number)
        heap.next_number += effect.numbered
        effect = succeeded(effect)
        for change in effect.changes:
            self._apply(attempt, heap, part, change)
        return min(effect.counts)

    def _apply(self, attempt: Attempt, heap: Heap, part: WritePart, change: Change) -> None:
        row = self._row_for(heap, part, change)
        old = row.values(self._exact(attempt))
        unchanged = attempt.shape.verb is Verb.UPDATE and change.values == old
        if not (unchanged and self.skips_unchanged):
            self._database.write(attempt.transaction, row, change.values)
            self._wrote(attempt, row, part, old, change.values)

    def _wrote(
        self, attempt: Attempt, row: StoredRow, part: WritePart, old: Row | None, new: Row | None
    ) -> None:
        """A version was written; take the locks that go with it."""


def _new_keys(part: WritePart, wanted: Effect, living: Sequence[tuple[int, Row]]) -> Keys:
    """The keys of the rows to be written, without those that a row keeps."""
    keys: Keys = []
    for index in part.checked.unique:
        holders = {index.key(values): number for number, values in living}
        for change in wanted.changes:
            key = index.key(change.values) if change.values is not None else None
            if key is not None and not (change.row is not None and holders.get(key) == change.row):
                keys.append((index, key, holders.get(key)))
    return keys
