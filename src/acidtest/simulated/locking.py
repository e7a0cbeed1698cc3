"""Statements of the locking engine: look, lock, and write; or say who stands in the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.writes import Change, Effect
from acidtest.model import Affected, ErrorKind, Level, Row, Rows
from acidtest.simulated import faults
from acidtest.simulated.locks import Matches, Mode, Request
from acidtest.simulated.plans import ReadPlan, WritePart, WritePlan
from acidtest.simulated.problems import MustWait, StatementFailed, unsupported
from acidtest.simulated.storage import Heap, StoredRow, Transaction, is_committed
from acidtest.simulated.visibility import rows_of
from acidtest.simulated.worker import (
    Attempt,
    Chosen,
    Views,
    Worker,
    affected,
    every_row,
    matches,
    raise_first_error,
    succeeded,
)
from acidtest.sql.shape import Locking, Patience, Verb

_STRICT_LEVELS = (Level.REPEATABLE_READ, Level.SERIALIZABLE)
"""Levels whose locking statements keep others from adding rows that match."""


class LockingWorker(Worker):
    """Plain reads see snapshots; writes and locking reads see what is committed and lock it until the end."""

    rows_are_keys = True

    def begin(self, transaction: Transaction, consistent_snapshot: bool) -> None:
        self._visibility.begin(transaction, consistent_snapshot)

    # -- reads

    def _read(self, attempt: Attempt, plan: ReadPlan) -> Rows:
        mode = self._read_mode(attempt)
        if not attempt.shape.reads:
            views: Views = {}
        elif mode is None:
            views = self._plain_views(attempt)
        else:
            views = self._locked_views(attempt, plan, mode)
        return Rows(plan.columns, plan.query.run(views).rows)

    def _read_mode(self, attempt: Attempt) -> Mode | None:
        """The locks that a read takes, if any."""
        transaction, locking = attempt.transaction, attempt.shape.locking
        if locking is Locking.UPDATE:
            return None if self._planted.has(faults.FOR_UPDATE_WITHOUT_LOCK) else Mode.EXCLUSIVE
        if locking is Locking.SHARE:
            return None if self._planted.has(faults.FOR_SHARE_WITHOUT_LOCK) else Mode.SHARE
        if transaction.level is not Level.SERIALIZABLE or transaction.implicit:
            return None
        return None if self._planted.has(faults.SERIALIZABLE_READ_WITHOUT_LOCK) else Mode.SHARE

    def _plain_views(self, attempt: Attempt) -> Views:
        transaction = attempt.transaction
        locks = attempt.shape.locking is not Locking.NONE  # it should lock; a fault made it forget
        sees = self._visibility.current(transaction) if locks else self._visibility.plain(transaction)
        return {name: rows_of(self._database.heaps[name], sees) for name in attempt.shape.reads}

    def _locked_views(self, attempt: Attempt, plan: ReadPlan, mode: Mode) -> Views:
        transaction = attempt.transaction
        request = Request(self._locks, transaction)
        skipped: set[StoredRow] = set()
        for name, predicate in plan.scans.items():
            heap = self._database.heaps[name]
            test = predicate.bind() if predicate else every_row
            found = self._scan(request, heap, test, mode, attempt.shape.patience)
            skipped |= found.skipped
            self._guard(request, heap, test)
        sees = self._visibility.current(transaction)
        if self._planted.has(faults.LOCKING_READ_OF_SNAPSHOT):
            sees = self._visibility.kept_snapshot(transaction) or sees
        views: Views = {
            name: [
                values
                for row in self._database.heaps[name].rows.values()
                if row not in skipped and (values := row.values(sees)) is not None
            ]
            for name in plan.scans
        }
        attempt.first_views = attempt.first_views if attempt.waited else views
        self._take(request, attempt.shape.patience)
        if self._planted.has(faults.RESUMED_READ_OF_OLD_ROWS) and attempt.waited:
            return attempt.first_views
        return views

    # -- locks

    def _scan(
        self,
        request: Request,
        heap: Heap,
        test: Callable[[Row], Any],
        mode: Mode | None,
        patience: Patience = Patience.WAIT,
    ) -> "_Found":
        """Find the rows that match, and ask for their locks.

        A row that another transaction has changed is waited for if it matches in any state that it may yet
        come to. With SKIP LOCKED, rows that others have locked are passed by.
        """
        sees = self._visibility.current(request.transaction)
        found = _Found()
        skips = patience is Patience.SKIP and not self._planted.has(faults.SKIP_LOCKED_SKIPS_NOTHING)
        for row in heap.rows.values():
            values = row.values(sees)
            fits = values is not None and matches(test, values)
            may_match = fits or any(matches(test, one) for one in row.pending(request.transaction))
            taken = mode is not None and self._locks.blockers(request.transaction, row, mode)
            if may_match and taken and skips:
                found.skipped.add(row)
                continue
            if fits and values is not None:
                found.rows[row] = values
            if mode is not None and may_match and patience is not Patience.SKIP:
                request.mind(row, mode)
            if mode is not None and fits:
                request.locks.append((row, mode))
        return found

    def _guard(self, request: Request, heap: Heap, test: Callable[[Row], Any]) -> None:
        """Keep others from adding rows that match, where the level promises that."""
        level = request.transaction.level
        if level not in _STRICT_LEVELS:
            return
        if level is Level.SERIALIZABLE and self._planted.has(faults.NO_PREDICATE_LOCK_SER):
            return
        if level is Level.REPEATABLE_READ and self._planted.has(faults.NO_PREDICATE_LOCK_RR):
            return
        guarded: Matches = lambda row: matches(test, row)  # noqa: E731
        request.guard(heap, guarded)

    def _take(self, request: Request, patience: Patience = Patience.WAIT) -> None:
        """Take the locks, or wait for those who hold them."""
        if request.blockers and patience is Patience.NOWAIT:
            raise StatementFailed(ErrorKind.LOCK_NOT_AVAILABLE, "a row is locked by another transaction")
        if request.blockers:
            raise MustWait(frozenset(request.blockers))
        request.grant()

    # -- writes

    def _write(self, attempt: Attempt, plan: WritePlan) -> Affected:
        assert attempt.shape.target is not None
        heap = self._database.heaps[attempt.shape.target]
        request = Request(self._locks, attempt.transaction)
        views = self._source_views(request, plan, attempt.shape.verb)
        chosen = self._choose(attempt, heap, plan, views, request)
        self._take(request)
        raise_first_error(plan, chosen, views)
        work = self._values_to_work_on(attempt, chosen)
        count = sum(self._write_part(attempt, heap, plan, part, views, work) for part in plan.parts)
        return affected(attempt, count, work)

    def _source_views(self, request: Request, plan: WritePlan, verb: Verb) -> Views:
        """What subqueries read: share-locked from REPEATABLE READ on and in DELETE, else as by a plain read.

        Measured on MariaDB 10.11 and MySQL 9.7.
        """
        transaction = request.transaction
        heaps = {name: self._database.heaps[name] for name in plan.sources}
        if transaction.level not in _STRICT_LEVELS and verb is not Verb.DELETE:
            sees = self._visibility.plain(transaction)
            return {name: rows_of(heap, sees) for name, heap in heaps.items()}
        for heap in heaps.values():
            self._scan(request, heap, every_row, Mode.SHARE)
            self._guard(request, heap, every_row)
        sees = self._visibility.current(transaction)
        return {name: rows_of(heap, sees) for name, heap in heaps.items()}

    def _choose(
        self, attempt: Attempt, heap: Heap, plan: WritePlan, views: Views, request: Request
    ) -> Chosen:
        """The rows that an UPDATE or DELETE works on, with their values."""
        if plan.chooses is None:
            return {}
        test = plan.chooses.bind(views)
        without_lock = {
            Verb.UPDATE: faults.UPDATE_WITHOUT_LOCK,
            Verb.DELETE: faults.DELETE_WITHOUT_LOCK,
        }[attempt.shape.verb]
        mode = None if self._planted.has(without_lock) else Mode.EXCLUSIVE
        chosen = self._scan(request, heap, test, mode).rows
        self._guard(request, heap, test)
        if not attempt.waited:
            attempt.first_choice = chosen
        return self._mistaken_choice(attempt, heap, test, chosen)

    def _mistaken_choice(
        self, attempt: Attempt, heap: Heap, test: Callable[[Row], Any], chosen: Chosen
    ) -> Chosen:
        """The choice of rows, if no fault spoils it."""
        first = attempt.first_choice if attempt.waited else chosen
        current = self._visibility.current(attempt.transaction)
        if self._planted.has(faults.RESUMED_MISSES_NEW_MATCHES):
            return {row: values for row, values in chosen.items() if row in first}
        if self._planted.has(faults.RESUMED_KEEPS_OLD_MATCHES):
            still_there = {row: values for row in first if (values := row.values(current)) is not None}
            return chosen | still_there
        if self._planted.has(faults.RESUMED_REVIVES_DELETED_ROW) and attempt.shape.verb is Verb.UPDATE:
            return chosen | {row: old for row, old in first.items() if row.values(current) is None}
        if self._planted.has(faults.WRITE_CHOOSES_BY_SNAPSHOT):
            snapshot = self._visibility.kept_snapshot(attempt.transaction)
            if snapshot is not None:
                old = {row: row.values(snapshot) for row in heap.rows.values()}
                now = {
                    row: row.values(current)
                    for row, values in old.items()
                    if values and matches(test, values)
                }
                return {row: values for row, values in now.items() if values is not None}
        return chosen

    def _values_to_work_on(self, attempt: Attempt, chosen: Chosen) -> Chosen:
        """The values that a write computes from: those it found, if no fault changes them."""
        if self._planted.has(faults.RESUMED_USES_OLD_VALUES) and attempt.waited:
            return {row: attempt.first_choice.get(row, values) for row, values in chosen.items()}
        snapshot = self._visibility.kept_snapshot(attempt.transaction)
        if self._planted.has(faults.LOST_UPDATE) and snapshot is not None:
            return {row: row.values(snapshot) or values for row, values in chosen.items()}
        if self._planted.has(faults.WRITE_IGNORES_OWN_WRITES):
            return {row: old for row in chosen if (old := row.values(is_committed)) is not None}
        return chosen

    def _write_part(
        self,
        attempt: Attempt,
        heap: Heap,
        plan: WritePlan,
        part: WritePart,
        views: Views,
        chosen: Chosen,
    ) -> int:
        """Write what belongs together; the affected count."""
        transaction = attempt.transaction
        existing = heap.seen(self._visibility.current(transaction))
        work = [(row.number, values) for row, values in chosen.items()]
        number = heap.next_number
        wanted = succeeded(part.unchecked.run(work, existing, views, number))
        if any(change.table not in ("", heap.table.name) for change in wanted.changes):
            raise unsupported("a write of several tables")
        self._lock_keys(transaction, heap, plan, part, wanted, existing)
        if self._planted.has(faults.RESUMED_INSERT_UNCHECKED) and attempt.waited:
            effect = wanted
        else:
            effect = part.checked.run(work, existing, views, number)
        if effect.errors:
            heap.next_number += effect.numbered  # numbers that were taken are not given again
        effect = succeeded(effect)
        request = Request(self._locks, transaction)
        self._mind_predicates(request, heap, effect, dict(existing))
        self._take(request)
        count = min(effect.counts)
        if self._planted.has(faults.WRONG_AFFECTED_COUNT):
            written = {version.row.number for version in transaction.log if version.row.heap is heap}
            count -= sum(change.row in written for change in effect.changes)
        heap.next_number += effect.numbered
        for change in effect.changes:
            self._apply(transaction, heap, part, change)
        return count

    def _lock_keys(
        self,
        transaction: Transaction,
        heap: Heap,
        plan: WritePlan,
        part: WritePart,
        wanted: Effect,
        existing: Sequence[tuple[int, Row]],
    ) -> None:
        """Wait for open transactions that wrote a key which is to be written; lock rows that have it."""
        request = Request(self._locks, transaction)
        twin_mode = Mode.EXCLUSIVE if plan.overwrites else Mode.SHARE
        new = [(change.row, change.values) for change in wanted.changes if change.values is not None]
        for index in part.checked.unique:
            holders = {index.key(values): number for number, values in existing}
            for number, values in new:
                key = index.key(values)
                if key is None or (number is not None and holders.get(key) == number):
                    continue
                if not self._planted.has(faults.NO_UNIQUE_KEY_LOCK):
                    request.mind((heap, index.name, key), Mode.EXCLUSIVE)
                twin = holders.get(key)
                if twin is not None:
                    request.lock(heap.rows[twin], twin_mode)
        self._take(request)

    def _mind_predicates(
        self, request: Request, heap: Heap, effect: Effect, existing: dict[int, Row]
    ) -> None:
        for change in effect.changes:
            if change.values is not None:
                old = existing.get(change.row) if change.row is not None else None
                request.blockers |= self._locks.intruded(request.transaction, heap, old, change.values)

    def _apply(self, transaction: Transaction, heap: Heap, part: WritePart, change: Change) -> None:
        """Write one version and hold its row and its keys."""
        row = self._row_for(heap, part, change)
        old = row.values(self._visibility.current(transaction))
        self._database.write(transaction, row, change.values)
        if change.row is None and not self._planted.has(faults.INSERT_WITHOUT_LOCK):
            self._locks.acquire(transaction, row, Mode.EXCLUSIVE)
        for index in part.checked.unique:
            keys = {index.key(values) if values else None for values in (old, change.values)}
            for key in (
                keys - {None} if len(keys) > 1 else ()
            ):  # an UPDATE that keeps the key locks only the row
                self._locks.acquire(transaction, (heap, index.name, key), Mode.EXCLUSIVE)


@dataclass(slots=True)
class _Found:
    rows: Chosen = field(default_factory=dict)
    skipped: set[StoredRow] = field(default_factory=set)
