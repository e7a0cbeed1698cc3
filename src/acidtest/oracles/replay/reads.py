"""Judges reads: plain ones by the views they may have had, locking ones also by what they had to wait for."""

from collections import Counter
from collections.abc import Sequence

from sqlglot import exp

from acidtest.casefile import format_rows
from acidtest.claims import Claim, Lock, Sees, SnapshotAt
from acidtest.model import Failed, Record, Rows, ViolationKind
from acidtest.mvcc import Seen, Visible
from acidtest.oracles.engine import UndecidedError, Views
from acidtest.oracles.replay.clustered import share_a_key
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.scene import HALF_DONE, Saw, Scene
from acidtest.oracles.replay.transactions import Standing
from acidtest.oracles.replay.violations import OF_THE_DATA, ViolationError, error_text
from acidtest.oracles.replay.waits import Waits
from acidtest.oracles.replay.work import Work, without_some
from acidtest.sql.shape import Locking, Patience, Shape

_SUBQUERIES = (exp.Subquery, exp.Exists)


class Reads:
    """The reads of a walk."""

    def __init__(self, scene: Scene, saw: Saw) -> None:
        self.undecided: list[str] = []
        """Why plain reads could not be judged."""
        self._scene = scene
        self._history = scene.history
        self._engine = scene.engine
        self._chains = scene.chains
        self._transactions = scene.transactions
        self._timeline = scene.timeline
        self._visibility = scene.visibility
        self._work = Work(scene)
        self._waits = Waits(scene)
        self._failures = Failures(scene)
        self._saw = saw

    def judge(self, standing: Standing, record: Record, shape: Shape, alone: bool) -> None:
        """Judge a read, which may be a transaction by itself."""
        if _takes_no_locks(standing.claim, shape, alone):
            self._plain(standing, record, shape, alone)
        elif shape.patience is Patience.SKIP:
            self._require_one_view(standing, record, shape)
            self._skipping(standing, record, shape)
        else:
            self._require_one_view(standing, record, shape)
            self._locking(standing, record, shape)

    # -- plain reads

    def _plain(self, standing: Standing, record: Record, shape: Shape, alone: bool) -> None:
        moments = self._visibility.moments(standing, record, alone)
        sees = standing.claim.plain_read
        if alone and sees is not Sees.NEWEST:
            sees = Sees.SNAPSHOT
        visibles = [self._visibility.visible(standing, sees, one) for one in moments]
        try:
            self._of_some_view(standing, record, shape, visibles, moments)
        except UndecidedError as undecided:
            # What is read changes nothing, so the rest can still be judged.
            self.undecided.append(undecided.reason)
            if standing.claim.snapshot is SnapshotAt.FIRST_READ and not alone:
                standing.moments, standing.maybe_unopened = moments, True

    def _of_some_view(
        self,
        standing: Standing,
        record: Record,
        shape: Shape,
        visibles: Sequence[Visible],
        moments: Sequence[int],
    ) -> None:
        """A read that passes if its answer is right for one of the views it may have had."""
        outcome = record.outcome
        all_views = [self._visibility.views(shape.reads, visible) for visible in visibles]
        if not isinstance(outcome, Rows):
            errors = self._engine.answer(record.sql, shape, all_views[0]).errors
            if not isinstance(outcome, Failed):
                raise UndecidedError("a query without a result set")
            self._failures.judge(standing, record, outcome, errors)
            return
        fitting = [
            moment
            for moment, views in zip(moments, all_views, strict=True)
            if self._engine.admits(record.sql, shape, views, outcome.rows)
        ]
        if not fitting:
            raise self._wrong_rows(standing, record, outcome, shape, all_views[0])
        chosen = moments.index(fitting[0])
        self._saw(standing, record, shape, all_views[chosen], visibles[chosen])
        if standing.claim.snapshot is SnapshotAt.FIRST_READ and shape.locking is Locking.NONE:
            _opened_snapshot(standing, fitting, for_sure=bool(outcome.rows) and shape.plain)

    def _wrong_rows(
        self, standing: Standing, record: Record, outcome: Rows, shape: Shape, views: Views
    ) -> ViolationError:
        if standing.claim.plain_read is Sees.NEWEST and self._scene.is_half_done(record, shape.reads):
            raise UndecidedError(HALF_DONE)
        if standing.claim.rows_are_keys and self._rows_share_a_key(views):
            raise UndecidedError("a row that the snapshot has under a key which is another's by now")
        answer = self._engine.answer(record.sql, shape, views)
        return ViolationError(
            ViolationKind.WRONG_ERROR if answer.errors else ViolationKind.WRONG_ROWS,
            record.step,
            error_text(answer.errors) if answer.errors else format_rows(answer.rows),
            format_rows(outcome.rows),
            f"{record.session} must see {standing.claim.plain_read.value} (taken "
            f"{standing.claim.snapshot.value}), and what it wrote itself",
            expected_rows=answer.rows,
            table=shape.target or "",
        )

    def _rows_share_a_key(self, views: Views) -> bool:
        return any(share_a_key(self._history.schema.table(table), rows) for table, rows in views.items())

    # -- locking reads

    def _locking(self, standing: Standing, record: Record, shape: Shape) -> None:
        mode = _mode(standing.claim, shape)
        work, conflict = self._work.rows(standing, record, shape)
        if isinstance(record.outcome, Failed):
            errors = (
                self._engine.answer(record.sql, shape, {shape.target: work}).errors
                if shape.plain and shape.target is not None
                else OF_THE_DATA
            )
            self._failures.judge_conflict(standing, record, record.outcome, may_fail=errors)
            return
        self._failures.require_conflict(standing, record, conflict)
        worked_on = self._engine.matching(record.sql, shape, work) if shape.plain else []
        self._waits.require_for_rows(standing, record, shape, worked_on, mode)
        views = self._locking_views(standing, record, shape, work)
        doubtful = self._work.doubtful(standing, record, shape, worked_on)
        if doubtful and shape.target is not None and isinstance(record.outcome, Rows):
            for chosen in without_some(work, doubtful):
                if self._engine.admits(record.sql, shape, {shape.target: chosen}, record.outcome.rows):
                    views = {shape.target: chosen}
        self._compare(standing, record, shape, views)
        self._saw(standing, record, shape, views, self._visibility.committed(standing))
        sure = [row for row in worked_on if row not in doubtful]
        self._waits.take_locks(standing, record, shape, sure, mode)

    def _require_one_view(self, standing: Standing, record: Record, shape: Shape) -> None:
        """A locking read locks and looks at the newest rows; its subqueries may see what a plain read sees:
        https://dev.mysql.com/doc/refman/8.4/en/innodb-locking-reads.html"""
        if shape.plain or shape.tree.find(*_SUBQUERIES) is None:
            return
        moment = self._visibility.snapshot(standing, record)
        plain = {Sees.SNAPSHOT, standing.claim.plain_read}
        visibles = [self._visibility.visible(standing, sees, moment) for sees in plain]
        now = self._visibility.views(shape.reads, self._visibility.committed(standing))
        if record.waited or any(self._visibility.views(shape.reads, one) != now for one in visibles):
            raise UndecidedError("a locking read with a subquery that may see other versions")

    def _locking_views(self, standing: Standing, record: Record, shape: Shape, work: Sequence[Seen]) -> Views:
        if shape.plain and shape.target is not None:
            return {shape.target: work}
        if standing.claim.write is Sees.SNAPSHOT and record.waited:
            raise UndecidedError("a locking read of several tables that waited")
        moment = self._visibility.snapshot(standing, record)
        visible = self._visibility.visible(standing, standing.claim.locking_read, moment)
        return self._visibility.views(shape.reads, visible)

    def _compare(self, standing: Standing, record: Record, shape: Shape, views: Views) -> None:
        outcome = record.outcome
        if not isinstance(outcome, Rows):
            raise UndecidedError("a query without a result set")
        if not self._engine.admits(record.sql, shape, views, outcome.rows):
            answer = self._engine.answer(record.sql, shape, views)
            raise ViolationError(
                ViolationKind.WRONG_ROWS,
                record.step,
                format_rows(answer.rows),
                format_rows(outcome.rows),
                f"a locking read of {record.session} must see {standing.claim.locking_read.value}",
                expected_rows=answer.rows,
                table=shape.target or "",
            )

    def _skipping(self, standing: Standing, record: Record, shape: Shape) -> None:
        """SKIP LOCKED may leave out any row, because servers lock more than is sure; what it gives must be
        right, and nothing that others have surely locked."""
        if not shape.plain or shape.target is None or standing.claim.write is not Sees.COMMITTED:
            raise UndecidedError("SKIP LOCKED where it is not known for sure which rows are locked")
        if not isinstance(record.outcome, Rows):
            return
        assert standing.transaction is not None
        locks, mode = self._transactions.locks, _mode(standing.claim, shape)
        work, _ = self._work.rows(standing, record, shape)
        free = [
            seen
            for seen in work
            if locks.conflict(standing.transaction, shape.target, seen.row, mode) is None
            and not self._transactions.is_foreign(standing, self._chains.newest(shape.target, seen.row))
        ]
        answer = self._engine.answer(record.sql, shape, {shape.target: free})
        if Counter(record.outcome.rows) - Counter(answer.rows):
            raise ViolationError(
                ViolationKind.WRONG_ROWS,
                record.step,
                f"some of {format_rows(answer.rows)}",
                format_rows(record.outcome.rows),
                "SKIP LOCKED gave a row that another transaction has locked, or that is not there",
                expected_rows=answer.rows,
                table=shape.target,
            )


def _takes_no_locks(claim: Claim, shape: Shape, alone: bool) -> bool:
    if shape.locking is not Locking.NONE:
        return alone and not claim.alone_locks
    return alone or claim.plain_read_lock is Lock.NONE


def _mode(claim: Claim, shape: Shape) -> Lock:
    return Lock.EXCLUSIVE if shape.locking is Locking.UPDATE else claim.share_lock


def _opened_snapshot(standing: Standing, moments: Sequence[int], for_sure: bool) -> None:
    """An impossible WHERE opens no snapshot; that rows came shows that a table was read."""
    standing.moments = tuple(moments)
    standing.maybe_unopened = standing.maybe_unopened and not for_sure
