"""Judges SKIP LOCKED: what it gives must be right, and free."""

from collections import Counter
from collections.abc import Sequence

from acidtest.claims import Lock, OnConflict, Sees
from acidtest.model import Failed, Record, Row, Rows, RowsWitness
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.engines.questions import has_limit
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.found_rows import FoundRows
from acidtest.oracles.replay.locks import Wanted, mode_of_read
from acidtest.oracles.replay.one_table import about_one_table
from acidtest.oracles.replay.subqueries import Subqueries
from acidtest.oracles.replay.tracing import Tracer
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.waits import Waits
from acidtest.sql.shape import Shape


class Skipping:
    """The reads with SKIP LOCKED of a walk."""

    def __init__(self, context: Context, tracer: Tracer) -> None:
        self._context = context
        self._engine = context.engine
        self._chains = context.chains
        self._transactions = context.transactions
        self._visibility = context.visibility
        self._work = FoundRows(context)
        self._subqueries = Subqueries(context)
        self._waits = Waits(context)
        self._failures = Failures(context)
        self._tracer = tracer

    def judge(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> None:
        """Any row may be left out where servers lock more than is sure; none where locks are exact."""
        shape = about_one_table(shape, state.claim.grammar, limited=state.claim.exact_locks)
        if shape.target is None:
            raise UndecidedError("SKIP LOCKED over several tables")
        mode = mode_of_read(state.claim, shape)
        work, conflict = self._work.rows(state, record, shape, mode)
        views = self._views(state, record, shape, alone)
        if isinstance(record.outcome, Failed):
            errors = self._engine.answer(record.sql, shape, {**views, shape.target: work}).errors
            self._failures.judge_conflict(state, record, record.outcome, errors, reason=conflict)
            return
        if not isinstance(record.outcome, Rows):
            raise UndecidedError("a query without a result set")
        if has_limit(shape) and (conflict or not self._is_exact(state, record, shape)):
            raise UndecidedError("SKIP LOCKED with LIMIT where it is not known which rows it reached")
        if state.claim.on_conflict is OnConflict.FAIL and state.claim.exact_locks:
            self._failures.require_conflict(state, record, conflict)
        free = [seen for seen in work if self._is_free(state, shape, seen, mode)]
        self._compare(state, record, shape, {**views, shape.target: free}, record.outcome.rows)
        self._note_reads(state, record, shape, {**views, shape.target: free}, record.outcome.rows)
        self._take_locks(state, record, shape, free, views, mode)

    def _views(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> Views:
        if shape.plain:
            return {}
        if state.claim.locking_read is not Sees.SNAPSHOT:
            way = self._subqueries.way(state, record, shape, alone)
            if way is not None and way.apart:
                raise UndecidedError("SKIP LOCKED with a subquery that may see other versions")
            now = self._visibility.views(shape.reads, self._visibility.committed(state))
            return {**now, **({} if way is None else way.views)}
        moment = self._visibility.snapshot(state, record)
        return self._visibility.views(shape.reads, self._visibility.visible(state, Sees.SNAPSHOT, moment))

    def _is_free(self, state: SessionState, shape: Shape, seen: Seen, mode: Lock) -> bool:
        """Whether nobody is known to hold the row."""
        assert state.transaction is not None
        assert shape.target is not None
        if self._transactions.locks.conflict(state.transaction, shape.target, seen.row, mode) is not None:
            return False
        newest = self._chains.newest(shape.target, seen.row)
        if not self._transactions.is_foreign(state, newest):
            return True
        return mode is Lock.KEY_SHARE and not newest.deleted

    def _compare(
        self, state: SessionState, record: Record, shape: Shape, views: Views, observed: Sequence[Row]
    ) -> None:
        assert shape.target is not None
        exact = self._is_exact(state, record, shape)
        answer = self._engine.answer(record.sql, shape, views)
        right = (
            self._engine.admits(record.sql, shape, views, observed)
            if exact
            else not Counter(observed) - Counter(answer.rows)
        )
        if not right:
            raise ViolationError(
                record.step,
                RowsWitness(answer.rows, tuple(observed), partial=not exact),
                "SKIP LOCKED gives the rows that nobody else has locked, and no others",
                shape.target,
            )

    def _note_reads(
        self, state: SessionState, record: Record, shape: Shape, views: Views, observed: Sequence[Row]
    ) -> None:
        """Who skips rows depends on none of them. Where it is not known which are skipped, it has read those
        that it gave, and its condition says nothing of the others."""
        assert shape.target is not None
        visible = self._visibility.found_by(state, record, state.claim.locking_read)
        if self._is_exact(state, record, shape):
            self._tracer.saw(state, record, shape, views, visible)
            return
        given = [
            seen
            for seen in views[shape.target]
            if set(self._engine.answer(record.sql, shape, {**views, shape.target: [seen]}).rows)
            & set(observed)
        ]
        if len(given) != len(observed):
            self._tracer.gaps.append("which of several equal rows SKIP LOCKED gave")
        self._tracer.saw(state, record, shape, {shape.target: given}, visible, only_rows=True)
        beside = {table: rows for table, rows in views.items() if table != shape.target}
        self._tracer.saw(state, record, shape, beside, visible)

    def _is_exact(self, state: SessionState, record: Record, shape: Shape) -> bool:
        """Whether it is known for every row of the table who holds it."""
        assert state.transaction is not None
        assert shape.target is not None
        return (
            state.claim.exact_locks
            and self._transactions.locks.is_exact(state.transaction, shape.target)
            and not self._context.works_on(record, (shape.target,))
        )

    def _take_locks(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        free: Sequence[Seen],
        views: Views,
        mode: Lock,
    ) -> None:
        assert shape.target is not None
        if has_limit(shape) or not self._is_exact(state, record, shape):
            self._waits.take_unknown(state, record, (shape.target,))
            return
        rows = self._engine.matching(record.sql, shape, free, None if shape.plain else views)
        wanted = Wanted(shape.target, dict.fromkeys(rows, mode), mode)
        self._waits.take_locks(state, record, shape, wanted)
