"""Judges reads: plain ones by the views they may have had, locking ones also by what they had to wait for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from acidtest.claims import Claim, Lock, OnConflict, Sees, SnapshotAt
from acidtest.model import ErrorWitness, Failed, Record, Row, Rows, RowsWitness
from acidtest.oracles.chains import Seen, Version, Visible
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.backwards import admits_backwards
from acidtest.oracles.replay.context import HALF_DONE, Context
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.found_rows import FoundRows, without_some
from acidtest.oracles.replay.half_done import HalfDone
from acidtest.oracles.replay.identities import Identities
from acidtest.oracles.replay.locks import Wanted, mode_of_read
from acidtest.oracles.replay.one_table import about_one_table, reads_its_table_again
from acidtest.oracles.replay.skipping import Skipping
from acidtest.oracles.replay.subqueries import Subqueries, Way, without_condition
from acidtest.oracles.replay.tracing import Tracer
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import OF_AN_EXPRESSION, ViolationError
from acidtest.oracles.replay.waits import Waits
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Locking, Patience, Shape


class Reads:
    """The reads of a walk."""

    def __init__(self, context: Context, tracer: Tracer, undecided: list[str] | None = None) -> None:
        self.undecided: list[str] = [] if undecided is None else undecided
        """Why plain reads could not be judged."""
        self._context = context
        self._history = context.history
        self._engine = context.engine
        self._chains = context.chains
        self._transactions = context.transactions
        self._timeline = context.timeline
        self._visibility = context.visibility
        self._work = FoundRows(context)
        self._half_done = HalfDone(context)
        self._subqueries = Subqueries(context)
        self._waits = Waits(context)
        self._failures = Failures(context)
        self._skipping = Skipping(context, tracer)
        self._identities = Identities(context)
        self._tracer = tracer

    def judge(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> None:
        """Judge a read, which may be a transaction by itself."""
        if _takes_no_locks(state.claim, shape, alone):
            self._plain(state, record, shape, alone)
        elif shape.patience in (Patience.SKIP, Patience.MIXED):
            if shape.patience is Patience.MIXED:
                raise UndecidedError("locking clauses that differ in what they do about locked rows")
            self._skipping.judge(state, record, shape, alone)
        else:
            self._locking(state, record, about_one_table(shape, state.claim.grammar), alone)

    def judge_broken(
        self, state: SessionState, record: Record, shape: Shape, alone: bool, followed: bool
    ) -> None:
        """Judge a read of a table whose key the transaction has broken. `followed`: the chains show what
        a scan finds; who goes by a key may find less."""
        try:
            if followed:
                self.judge(state, record, shape, alone)
                return
        except ViolationError:
            if not self._may_go_by_key(shape):
                raise
        self.undecided.append("a read of a table whose key the transaction has broken")

    def _may_go_by_key(self, shape: Shape) -> bool:
        tables = [self._history.schema.table(name) for name in shape.reads]
        keys = {name.lower() for one in tables for index in one.indexes for name in index.columns}
        parts = [part for name, part in shape.tree.args.items() if name != "expressions" and part]
        named = {
            column.name.lower()
            for part in parts
            if isinstance(part, exp.Expression)
            for column in part.find_all(exp.Column)
        }
        return not shape.plain or bool(named & keys)

    # -- plain reads

    def _plain(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> None:
        moments = self._visibility.moments(state, record, alone)
        sees = state.claim.plain_read
        if alone and sees is not Sees.NEWEST:
            sees = Sees.SNAPSHOT
        visibles = [self._visibility.visible(state, sees, one) for one in moments]
        try:
            self._of_some_view(state, record, shape, visibles, moments)
        except UndecidedError as undecided:
            # What is read changes nothing, so the rest can still be judged.
            self.undecided.append(undecided.reason)
            if state.claim.snapshot is SnapshotAt.FIRST_READ and not alone:
                state.moments, state.maybe_unopened = moments, True

    def _of_some_view(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        visibles: Sequence[Visible],
        moments: Sequence[int],
    ) -> None:
        """A read that passes if its answer is right for one of the views it may have had."""
        outcome = record.outcome
        found = [self._visibility.views(shape.reads, visible) for visible in visibles]
        all_views = [self._identities.distinct(state, views) for views in found]
        if not isinstance(outcome, Rows):
            errors = self._engine.answer(record.sql, shape, all_views[0]).errors
            if not isinstance(outcome, Failed):
                raise UndecidedError("a query without a result set")
            self._failures.judge(state, record, outcome, errors)
            return
        fitting = [
            moment
            for moment, views in zip(moments, all_views, strict=True)
            if self._admits(state, record, shape, views, outcome.rows)
        ]
        if not fitting:
            if self._saw_half_done(state, record, shape, all_views[0], outcome.rows):
                return
            self._context.report(self._wrong_rows(state, record, outcome, shape, found[0]))
            fitting = list(moments[:1])
        chosen = moments.index(fitting[0])
        self._tracer.saw(state, record, shape, all_views[chosen], visibles[chosen])
        if state.claim.snapshot is SnapshotAt.FIRST_READ and shape.locking is Locking.NONE:
            _opened_snapshot(state, fitting, for_sure=bool(outcome.rows) and shape.plain)
        elif len(state.moments) > 1:
            state.moments = tuple(fitting)

    def _saw_half_done(
        self, state: SessionState, record: Record, shape: Shape, views: Views, rows: Sequence[Row]
    ) -> bool:
        """Whether a dirty read is right if writes of others that wait have come to some of their rows."""
        if state.claim.plain_read is not Sees.NEWEST or not self._context.is_half_done(record, shape.reads):
            return False
        for between in self._half_done.views(record, views):
            if self._engine.admits(record.sql, shape, between, rows):
                self._tracer.gaps.append("a dirty read of a row whose write had not ended")
                return True
        if not self._half_done.is_certain(record, views):
            raise UndecidedError(HALF_DONE)
        return False

    def _wrong_rows(
        self, state: SessionState, record: Record, outcome: Rows, shape: Shape, views: Views
    ) -> ViolationError:
        distinct = self._identities.distinct(state, views)
        shared = self._identities.may_share_a_key(state, views)
        if shared and not self._engine.admits(record.sql, shape, views, outcome.rows):
            raise UndecidedError("a row that the snapshot has under a key which is another's by now")
        answer = self._engine.answer(record.sql, shape, distinct)
        witness = (
            ErrorWitness(answer.errors, None)
            if answer.errors
            else RowsWitness(answer.rows, tuple(outcome.rows))
        )
        because = (
            f"{record.session} must see {state.claim.plain_read.value} (taken "
            f"{state.claim.snapshot.value}), and what it wrote itself"
        )
        return ViolationError(record.step, witness, because, shape.target or "")

    def _admits(
        self, state: SessionState, record: Record, shape: Shape, views: Views, rows: Sequence[Row]
    ) -> bool:
        """Whether the answer is right on these views, or as a deviation has it."""
        if any(
            self._engine.admits(record.sql, shape, one, rows)
            for one in (views, *self._identities.with_repeated(state, views))
        ):
            return True
        if not state.claim.backward_scans_read_newest:
            return False
        newest = self._visibility.views(shape.reads, self._visibility.committed(state))
        return admits_backwards(self._engine, state.claim.grammar, shape, views, newest, rows)

    # -- locking reads

    def _locking(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> None:
        self._work.require_one_moment(state, record, shape)
        mode = mode_of_read(state.claim, shape)
        work, conflict = self._work.rows(state, record, shape, mode)
        way = self._subqueries.way(state, record, shape, alone)
        if way is not None and way.apart:
            self._locking_apart(state, record, shape, work, way)
            return
        beside = {} if way is None else way.views
        views = {**self._locking_views(state, record, shape, work), **beside}
        if isinstance(record.outcome, Failed):
            one_table = shape.target is not None
            errors = self._engine.answer(record.sql, shape, views).errors if one_table else OF_AN_EXPRESSION
            self._failures.judge_conflict(state, record, record.outcome, may_fail=errors, reason=conflict)
            return
        with self._context.judging():
            self._failures.require_conflict(state, record, conflict)
        wanted = self._wanted(state, record, shape, work, mode)
        if wanted is not None:
            with self._context.judging():
                self._waits.require_for_rows(state, record, shape, wanted)
        doubtful = self._work.doubtful(state, record, shape, list(wanted.rows) if wanted else [])
        passed_by: Mapping[int, Version | None] = {}
        if doubtful and shape.target is not None and isinstance(record.outcome, Rows):
            for chosen in without_some(work, doubtful):
                if self._engine.admits(record.sql, shape, {shape.target: chosen}, record.outcome.rows):
                    views = {shape.target: chosen}
                    left_out = doubtful - {seen.row for seen in chosen}
                    passed_by = self._visibility.when_launched(record, shape.target, left_out)
        with self._context.judging():
            self._compare(state, record, shape, views)
        visible = self._visibility.found_by(state, record, state.claim.locking_read)
        own = {table: rows for table, rows in views.items() if table not in beside}
        self._tracer.saw(state, record, shape, own, visible, passed_by=passed_by)
        if way is not None:
            self._tracer.saw(state, record, shape, beside, way.visible)
        if wanted is not None:
            self._identities.locked(state, shape, wanted.rows)
            sure = {row: mode for row in wanted.rows if row not in doubtful}
            self._waits.take_locks(state, record, shape, replace(wanted, rows=sure))
        if wanted is None or record.waited:
            self._waits.take_unknown(state, record, shape.reads)

    def _locking_apart(
        self, state: SessionState, record: Record, shape: Shape, work: Sequence[Seen], way: Way
    ) -> None:
        """A locking read whose subqueries read its own table in other versions: they tell which rows it
        finds, and those it gives as they are now."""
        assert shape.target is not None
        if isinstance(record.outcome, Failed):
            self._failures.judge_conflict(state, record, record.outcome, may_fail=OF_AN_EXPRESSION)
            return
        found = set(self._engine.matching(record.sql, shape, work, way.views))
        asked, bare = without_condition(record, shape, state.claim.grammar)
        self._compare(state, asked, bare, {shape.target: [seen for seen in work if seen.row in found]})
        visible = self._visibility.found_by(state, record, state.claim.locking_read)
        self._tracer.saw(state, record, shape, {shape.target: work}, visible)
        self._tracer.saw(state, record, shape, way.views, way.visible)
        self._waits.take_unknown(state, record, shape.reads)

    def _wanted(
        self, state: SessionState, record: Record, shape: Shape, work: Sequence[Seen], mode: Lock
    ) -> Wanted | None:
        """The rows that the read locks; None if that is not known."""
        if shape.target is None or not (shape.plain or state.claim.locking_read is Sees.SNAPSHOT):
            return None
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
        views = None if shape.plain else self._visibility.views(shape.reads, visible)
        rows = self._engine.matching(record.sql, shape, work, views)
        return Wanted(shape.target, dict.fromkeys(rows, mode), mode)

    def _locking_views(
        self, state: SessionState, record: Record, shape: Shape, work: Sequence[Seen]
    ) -> Views:
        if shape.plain and shape.target is not None:
            return {shape.target: work}
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, state.claim.locking_read, moment)
        views = self._visibility.views(shape.reads, visible)
        if state.claim.locking_read is not Sees.SNAPSHOT:
            return views
        if shape.target is not None:
            return self._with_found_rows(state, record, shape, views, work)
        self._require_unchanged(state, record, shape, views)
        return views

    def _with_found_rows(
        self, state: SessionState, record: Record, shape: Shape, views: Views, work: Sequence[Seen]
    ) -> Views:
        """The rows that the statement found; a subquery over the same table reads all of its rows."""
        assert shape.target is not None
        if not reads_its_table_again(shape, state.claim.grammar):
            return {**views, shape.target: work}
        now = self._visibility.views([shape.target], self._visibility.committed(state))
        again = record.waited and state.claim.on_conflict is OnConflict.RECHECK  # a row may be gone since
        changed = again and now[shape.target] != views[shape.target]
        if changed or not set(work) <= set(views[shape.target]):
            raise UndecidedError("a locking read that waited, and that reads its table in a subquery, too")
        return views

    def _require_unchanged(self, state: SessionState, record: Record, shape: Shape, views: Views) -> None:
        """Rows for which it waited are tested again; over several tables it is not known which."""
        if state.claim.on_conflict is OnConflict.RECHECK and record.waited:
            now = self._visibility.views(shape.reads, self._visibility.committed(state))
            if now != views:
                raise UndecidedError("a locking read of several tables that waited while they changed")

    def _compare(self, state: SessionState, record: Record, shape: Shape, views: Views) -> None:
        outcome = record.outcome
        if not isinstance(outcome, Rows):
            raise UndecidedError("a query without a result set")
        if not self._admits(state, record, shape, views, outcome.rows):
            if self._is_only_out_of_order(state, record, shape, views, outcome.rows):
                return
            if self._is_right_but_for_a_repeated_row(state, record, shape, views, outcome.rows):
                return
            answer = self._engine.answer(record.sql, shape, views)
            raise ViolationError(
                record.step,
                RowsWitness(answer.rows, tuple(outcome.rows)),
                f"a locking read of {record.session} must see {state.claim.locking_read.value}",
                shape.target or "",
            )

    def _is_only_out_of_order(
        self, state: SessionState, record: Record, shape: Shape, views: Views, rows: Sequence[Row]
    ) -> bool:
        """A row that changed during the wait comes at the place of its old version:
        https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE"""
        if state.claim.on_conflict is not OnConflict.RECHECK or not record.waited:
            return False
        return Counter(self._engine.answer(record.sql, shape, views).rows) == Counter(rows)

    def _is_right_but_for_a_repeated_row(
        self, state: SessionState, record: Record, shape: Shape, views: Views, rows: Sequence[Row]
    ) -> bool:
        """Whether the deviation that returns a row twice after a wait accounts for the answer."""
        releaser = record.resumed_by
        if not state.claim.repeats_row_after_wait or not record.waited or releaser is None:
            return False
        if kind_of(self._history.records[releaser].sql) is not StatementKind.ROLLBACK:
            return False
        return any(
            self._engine.admits(record.sql, shape, views, [*rows[:place], *rows[place + 1 :]])
            for place, row in enumerate(rows)
            if row in rows[:place]
        )


def _takes_no_locks(claim: Claim, shape: Shape, alone: bool) -> bool:
    if shape.locking is not Locking.NONE:
        return alone and not claim.alone_locks
    return alone or claim.plain_read_lock is Lock.NONE


def _opened_snapshot(state: SessionState, moments: Sequence[int], for_sure: bool) -> None:
    """An impossible WHERE opens no snapshot; that rows came shows that a table was read."""
    state.moments = tuple(moments)
    state.maybe_unopened = state.maybe_unopened and not for_sure
