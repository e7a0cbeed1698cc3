"""Judges writes: what they did, for whom they had to wait, and how they leave the version chains."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from acidtest.claims import OnConflict, Sees
from acidtest.evaluator.writes import Change, Effect, UniqueIndex
from acidtest.model import (
    Affected,
    CountWitness,
    ErrorKind,
    ErrorWitness,
    Failed,
    Outcome,
    Record,
    Row,
    Rows,
    RowsWitness,
)
from acidtest.oracles.chains import Seen, Visible
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.clustered import (
    assigned,
    identity_index,
    key_of,
    parts_written,
    reads_what_it_sets,
    sets_indexed,
)
from acidtest.oracles.replay.context import HALF_DONE, Context
from acidtest.oracles.replay.counters import Counters
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.found_rows import FoundRows, without_some
from acidtest.oracles.replay.identities import Identities
from acidtest.oracles.replay.locks import Wanted, wanted_by_references, wanted_by_write
from acidtest.oracles.replay.one_table import chooses_among_rows, read_beside, tests_rows_alone
from acidtest.oracles.replay.tracing import Tracer
from acidtest.oracles.replay.transactions import Pending, SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.waits import Waits
from acidtest.sql.shape import Shape, Verb


class Writes:
    """The writes of a walk."""

    def __init__(self, context: Context, tracer: Tracer, numbers: Counters | None = None) -> None:
        self._context = context
        self._schema = context.history.schema
        self._engine = context.engine
        self._choices = context.choices
        self._chains = context.chains
        self._visibility = context.visibility
        self._timeline = context.timeline
        self._work = FoundRows(context)
        self._waits = Waits(context)
        self._failures = Failures(context)
        self.numbers = numbers or Counters(context)
        self._identities = Identities(context)
        self._tracer = tracer

    def judge(self, state: SessionState, record: Record, shape: Shape) -> None:
        """Judge a write, and put what it did onto the chains."""
        self.carry_out(state, record, shape, compares=True)

    def carry_out(self, state: SessionState, record: Record, shape: Shape, compares: bool = False) -> Effect:
        """The same for a part of a statement, of which the DBMS need not tell what it did."""
        assert shape.target is not None
        work, conflict = self._work.rows(state, record, shape)
        outcome = record.outcome
        lost = isinstance(outcome, Failed) and outcome.kind in state.claim.conflict_errors
        if isinstance(outcome, Failed) and lost and self.numbers.next(shape.target) is None:
            reason = conflict or self._why_upsert_fails(state, record, shape)
            self._failures.judge_conflict(state, record, outcome, reason=reason)
            return Effect()
        views = self._views(state, record, shape)
        effect = self._effect(state, record, shape, work, views)
        self.numbers.advance(shape.target, effect)
        conflict = conflict or self._met_unseen(state, record, shape, effect, views)
        if isinstance(record.outcome, Failed):
            self._failures.judge_conflict(
                state, record, record.outcome, effect.errors, effect.may_fail, reason=conflict
            )
            return effect
        # measured on TiDB 5.4: an UPDATE looks at the rows of its snapshot at once
        late = state.claim.on_conflict is OnConflict.AT_COMMIT and shape.verb is Verb.INSERT
        if late and effect.errors == {ErrorKind.DUPLICATE_KEY}:
            self._break_key(state, record, shape, views)
            return effect
        with self._context.judging():
            self._failures.require_conflict(state, record, conflict or self._other_writer(state))
        wanted = list(self._wanted(state, shape, work, effect))
        with self._context.judging():
            for one in wanted:
                self._waits.require_for_rows(state, record, shape, one)
            self._waits.require_for_keys(state, record, shape, effect)
            if compares:
                _compare(record, self._identities.counted(state, shape, effect))
            elif effect.errors:
                raise _breaks_a_constraint(record, effect)
        if record.waited and len(shape.writes) > 1:
            raise UndecidedError("a write of several tables that waited")
        visible = self._visibility.found_by(state, record, state.claim.write)
        passed_by = self._passed_by(state, record, shape, work, effect)
        kept = [seen for seen in work if seen.row not in passed_by]
        found = views if shape.verb is Verb.INSERT else {**views, shape.target: kept}
        then = self._visibility.when_launched(record, shape.target, passed_by)
        self._tracer.saw(state, record, shape, found, visible, passed_by=then)
        self._tracer.met(state, record, shape.target, effect, self._keys_seen(state, record))
        self._apply(state, record, shape, effect, work)
        self._identities.locked(state, shape, effect.worked_on)
        for one in wanted:
            self._waits.take_locks(state, record, shape, one)
        self._note_unknown_locks(state, record, shape)
        return effect

    def _break_key(self, state: SessionState, record: Record, shape: Shape, views: Views) -> None:
        """A write that broke a key, which COMMIT will notice. An INSERT looks for the key among the
        transaction's own rows alone, and what is kept under its key it hides from the transaction:
        https://docs.pingcap.com/tidb/stable/constraints#optimistic-transactions"""
        assert shape.target is not None
        own = self._chains.view(shape.target, lambda version: version.writer == state.transaction)
        number, related = self.numbers.next(shape.target), self._related(state, record, shape)
        # A server that does not tell what rows are kept by leaves it open which rows are hidden.
        told = any(index.clustered is not None for index in self._schema.table(shape.target).indexes)
        followed = told and adds_rows_only(shape)
        if followed:
            effect = self._engine.effect(record.sql, shape, [], own, views, number, related)
            followed = not effect.errors
        if followed:
            _compare(record, effect)
            self._hide_keys(state, record, shape, effect)
        state.pending.append(Pending(shape.target, record.step, followed=followed))

    def _hide_keys(self, state: SessionState, record: Record, shape: Shape, effect: Effect) -> None:
        """Put new rows onto the chains, over those that are kept under the same keys."""
        assert shape.target is not None
        assert state.transaction is not None
        existing = self._chains.view(shape.target, self._keys_seen(state, record))
        index = self._identity(state, record, shape)
        for values in (change.values for change in effect.changes if change.values is not None):
            twins = (seen.row for seen in existing if index and index.key(seen.values) == index.key(values))
            row = next(twins, None)
            if row is None:
                self._chains.insert(shape.target, values, state.transaction, record.step)
            else:
                self._chains.write(shape.target, row, values, state.transaction, record.step)

    def _other_writer(self, state: SessionState) -> str:
        """Why nobody else may write now, where one does so at a time."""
        for other in self._context.transactions.sessions.values() if state.claim.one_writer else ():
            if other is not state and other.transaction is not None and self._chains.mark(other.transaction):
                return f"{self._context.transactions.owner(other.transaction)} has written and not ended yet"
        return ""

    def _why_upsert_fails(self, state: SessionState, record: Record, shape: Shape) -> str:
        """Why ON CONFLICT failed, as far as its effect is known."""
        if not state.claim.upserts_in_snapshot or shape.tree.args.get("conflict") is None:
            return ""
        try:
            views = self._views(state, record, shape)
            effect = self._effect(state, record, shape, [], views)
        except UndecidedError:
            return ""
        return self._met_unseen(state, record, shape, effect, views)

    def _met_unseen(
        self, state: SessionState, record: Record, shape: Shape, effect: Effect, views: Views
    ) -> str:
        """Why ON CONFLICT must fail: it came upon a row whose newest version its snapshot does not show."""
        if not state.claim.upserts_in_snapshot or shape.target is None or shape.verb is not Verb.INSERT:
            return ""
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
        unseen = [
            seen
            for seen in self._chains.view(shape.target, self._visibility.committed(state))
            if not visible(newest := self._chains.newest(shape.target, seen.row))
            and self._chains.is_committed(newest.writer)
        ]
        if self._engine.met(record.sql, shape, unseen, views, effect):
            return f"it came upon a row of {shape.target} that is newer than its snapshot"
        return ""

    def _wanted(
        self, state: SessionState, shape: Shape, work: Sequence[Seen], effect: Effect
    ) -> Iterator[Wanted]:
        """The locks that the write takes: on its own rows, and on those that foreign keys take along or that
        new rows refer to."""
        assert shape.target is not None
        old = {seen.row: seen.values for seen in work}
        for row in effect.worked_on:
            if row not in old and (values := self._chains.newest(shape.target, row).values) is not None:
                old[row] = values
        yield wanted_by_write(state.claim, self._schema.table(shape.target), shape, effect, old)
        yield from wanted_by_references(state.claim, self._schema, effect)

    def _note_unknown_locks(self, state: SessionState, record: Record, shape: Shape) -> None:
        """What waited may hold rows that it then passed by; an upsert those that it left alone."""
        tables = set(self._engine.related(record.sql, shape))
        if record.waited or not (tests_rows_alone(shape) or adds_rows_only(shape)):
            tables |= {*shape.writes, *shape.reads}
        self._waits.take_unknown(state, record, sorted(tables))

    def _views(self, state: SessionState, record: Record, shape: Shape) -> Views:
        """What INSERT .. SELECT and subqueries read."""
        reads = state.claim.insert_select_reads or state.claim.write
        beside = read_beside(shape, state.claim.grammar)
        if reads is Sees.NEWEST and self._context.is_half_done(record, beside):
            raise UndecidedError(HALF_DONE)
        visible = self._visibility.visible(state, reads, self._visibility.snapshot(state, record))
        views: Views = self._visibility.views(shape.reads, visible)
        if state.claim.subqueries_read_either and not shape.plain:
            moment = self._visibility.snapshot(state, record)
            old = self._visibility.visible(state, Sees.SNAPSHOT, moment)
            views = self._either(record, shape, views, self._visibility.views(shape.reads, old))
        if record.waited and beside and state.claim.write is not Sees.SNAPSHOT:
            return self._before_or_after(state, record, beside, reads, views)
        return views

    def _either(self, record: Record, shape: Shape, new: Views, old: Views) -> Views:
        """What the one subquery of a write reads: the newest rows or those of the snapshot."""
        if new == old:
            return new
        if record.waited or len(list(shape.tree.find_all(exp.Select))) > 1:
            raise UndecidedError("which versions a subquery of a write reads is not laid down")
        if self._choices.pick(2) == 0:
            return new
        self._tracer.gaps.append("a write whose subquery read older versions than the write")
        return old

    def _before_or_after(
        self, state: SessionState, record: Record, beside: Sequence[str], reads: Sees, views: Views
    ) -> Views:
        """What a write that waited read besides its rows. InnoDB reads it without locks in one snapshot,
        taken when it first comes to it: before the wait or after. What is not committed may have been seen
        in any state."""
        launched = self._timeline.launched_at[record.step]
        if reads is Sees.NEWEST and self._is_in_flux(state, beside, launched):
            raise UndecidedError("a write that waited, and whose subqueries may have read before or after")
        if reads is not Sees.SNAPSHOT:
            return views
        ways: list[Views] = []
        for moment in range(launched, self._chains.clock + 1):
            visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
            found = self._visibility.views(beside, visible)
            if found not in ways:
                ways.append(found)
        return {**views, **ways[self._choices.pick(len(ways)) if len(ways) > 1 else 0]}

    def _is_in_flux(self, state: SessionState, tables: Sequence[str], moment: int) -> bool:
        """Whether others have written to one of the tables since a moment, or had not ended then."""
        versions = [
            one for table in tables for _, versions in self._chains.rows(table) for one in versions
        ] + [one for table, one in self._chains.undone if table in tables]
        return any(
            one.writer != state.transaction and not self._chains.committed_by(one.writer, moment)
            for one in versions
        )

    def _effect(
        self, state: SessionState, record: Record, shape: Shape, work: Sequence[Seen], views: Views
    ) -> Effect:
        """What the write had to do; where rows may have been passed by, what it did as far as it tells."""
        assert shape.target is not None
        existing = self._chains.view(shape.target, self._keys_seen(state, record))
        if state.claim.on_conflict is OnConflict.REFUSE and shape.tree.args.get("conflict") is not None:
            moment = self._visibility.snapshot(state, record)
            visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
            if self._chains.view(shape.target, visible) != existing:
                raise UndecidedError("an upsert whose snapshot is older than the table")
        number = self.numbers.next(shape.target)
        related = self._related(state, record, shape)
        effect = self._engine.effect(record.sql, shape, work, existing, views, number, related)
        tried = self._tried(record, shape, work, effect, views)
        doubtful = self._work.doubtful(state, record, shape, tried, None if shape.plain else views)
        if not doubtful:
            return effect
        effects = [
            self._engine.effect(record.sql, shape, chosen, existing, views, number, related)
            for chosen in without_some(work, doubtful)
        ]
        if isinstance(record.outcome, Failed):
            errors = frozenset(error for one in effects for error in one.errors | one.may_fail)
            return replace(effect, may_fail=effect.may_fail | errors)
        fitting = _fitting(effects, record.outcome, work)
        if not fitting:
            return effect
        return fitting[self._choices.pick(len(fitting)) if len(fitting) > 1 else 0]

    def _passed_by(
        self, state: SessionState, record: Record, shape: Shape, work: Sequence[Seen], effect: Effect
    ) -> frozenset[int]:
        """Rows that match now, and that the statement did not work on."""
        if not record.waited or not shape.plain or shape.verb is Verb.INSERT:
            return frozenset()
        matching = self._engine.matching(record.sql, shape, work)
        return self._work.doubtful(state, record, shape, matching) - set(effect.worked_on)

    def _tried(
        self, record: Record, shape: Shape, work: Sequence[Seen], effect: Effect, views: Views
    ) -> Sequence[int]:
        """The rows that a write works on, or those that it would if it did not fail or had no LIMIT."""
        if chooses_among_rows(shape) and record.waited:
            return self._engine.matching(record.sql, shape, work, views)
        if effect.worked_on or not effect.errors or not shape.plain or shape.verb is Verb.INSERT:
            return effect.worked_on
        return self._engine.matching(record.sql, shape, work)

    def _keys_seen(self, state: SessionState, record: Record) -> Visible:
        """Against which rows unique keys are checked: the newest, but an optimistic transaction knows only
        those of its snapshot before it commits."""
        if state.claim.on_conflict is OnConflict.AT_COMMIT:
            return self._visibility.visible(state, Sees.SNAPSHOT, self._visibility.snapshot(state, record))
        return self._visibility.committed(state)

    def _related(self, state: SessionState, record: Record, shape: Shape) -> Views:
        """What foreign keys look up: the newest rows; PostgreSQL's stronger levels also look into the
        snapshot, and then it is not laid down which counts."""
        tables = self._engine.related(record.sql, shape)
        if not tables:
            return {}
        rows = self._visibility.views(tables, self._visibility.committed(state))
        if state.claim.write is Sees.SNAPSHOT and state.claim.on_conflict is not OnConflict.RECHECK:
            moment = self._visibility.snapshot(state, record)
            visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
            others = [one for one in tables if one != shape.target or self._refers_to_itself(one)]
            if any(self._chains.view(one, visible) != rows[one] for one in others):
                raise UndecidedError("foreign keys between rows that are newer than the snapshot")
        return rows

    def _refers_to_itself(self, table: str) -> bool:
        return any(key.table == table for key in self._schema.table(table).foreign_keys)

    def _apply(
        self, state: SessionState, record: Record, shape: Shape, effect: Effect, work: Sequence[Seen]
    ) -> None:
        """Put what the statement changed onto the chains."""
        assert shape.target is not None
        assert state.transaction is not None
        # Where nobody waits, what a transaction leaves as it is is not written, and hides no other's version.
        optimistic = state.claim.on_conflict in (OnConflict.AT_COMMIT, OnConflict.REFUSE)
        if state.claim.on_conflict is OnConflict.AT_COMMIT and shape.verb is Verb.INSERT:
            work = self._chains.view(shape.target, self._keys_seen(state, record))
        unwritten = {(seen.row, seen.values) for seen in work} if optimistic else set()
        for change in effect.changes:
            table = change.table or shape.target
            moves = change.row is not None and self._moves(state, shape, change, table)
            if (change.row, change.values) in unwritten and not moves:
                continue
            if self._stays(state, shape, effect, change, table):
                continue
            if moves:
                assert change.row is not None
                self._chains.write(table, change.row, None, state.transaction, record.step)
                self._install(state, record, shape, replace(change, row=None), table)
            else:
                self._install(state, record, shape, change, table)

    def _install(self, state: SessionState, record: Record, shape: Shape, change: Change, table: str) -> None:
        assert state.transaction is not None
        row = change.row
        if row is None and change.values is not None:
            row = self._revived(state, record, shape, change.values)
        if row is None:
            assert change.values is not None
            self._chains.insert(table, change.values, state.transaction, record.step)
        else:
            columns = self._columns_set(state, record, shape, table, row, change.values)
            self._chains.write(table, row, change.values, state.transaction, record.step, columns)

    def _columns_set(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        table: str,
        row: int,
        values: Row | None,
    ) -> frozenset[int] | None:
        """The columns that a new version sets, where a deviation puts versions together; None: all."""
        if not state.claim.puts_updates_together:
            return None
        columns = assigned(self._schema.table(table), shape)
        if columns is None or values is None or not state.claim.nulls_are_kept_apart:
            return columns
        visible = self._visibility.found_by(state, record, state.claim.write)
        versions = reversed(self._chains.versions(table, row))
        old = next((one.values for one in versions if visible(one)), None)
        return columns if old is None else parts_written(columns, old, values)

    def _stays(self, state: SessionState, shape: Shape, effect: Effect, change: Change, table: str) -> bool:
        """Whether a deviation leaves a row unwritten because it stays as it is. REPLACE takes it away and
        puts the same one in its place."""
        claim = state.claim
        if not (
            claim.unchanged_is_unwritten or (claim.unchanged_read_is_unwritten and reads_what_it_sets(shape))
        ):
            return False
        if change.row is not None and change.values is not None:
            newest = self._chains.newest(table, change.row)
            return newest.values == change.values and newest.writer != state.transaction
        gone = {
            self._chains.newest(table, one.row).values
            for one in effect.changes
            if one.row is not None and one.values is None
        }
        new = {one.values for one in effect.changes if one.row is None}
        values = change.values if change.row is None else self._chains.newest(table, change.row).values
        return values in gone & new

    def _moves(self, state: SessionState, shape: Shape, change: Change, table: str) -> bool:
        """Whether a deviation makes another row of one that is updated."""
        claim = state.claim
        if change.row is None or change.values is None:
            return False
        definition = self._schema.table(table)
        if claim.indexed_update_is_new_row:
            return sets_indexed(definition, shape)
        old = self._chains.newest(table, change.row).values
        return (
            claim.moved_is_new_row
            and old is not None
            and key_of(definition, old) != key_of(definition, change.values)
        )

    def _revived(self, state: SessionState, record: Record, shape: Shape, values: Row) -> int | None:
        """The deleted row that a new one takes the place of, where the primary key is what a row is."""
        assert shape.target is not None
        index = self._identity(state, record, shape)
        for row, versions in self._chains.rows(shape.target) if index else ():
            last = next((one.values for one in reversed(versions) if one.values is not None), None)
            if index and versions[-1].deleted and last is not None and index.key(last) == index.key(values):
                return row
        return None

    def _identity(self, state: SessionState, record: Record, shape: Shape) -> UniqueIndex | None:
        """The index whose key is what a row is."""
        assert shape.target is not None
        identity = identity_index(state.claim, self._schema.table(shape.target))
        indexes = self._engine.unique_indexes(record.sql, shape) if identity else ()
        return next((one for one in indexes if identity and one.name == identity.name), None)


def _compare(record: Record, effect: Effect) -> None:
    """What the DBMS reported must be what the statement had to do."""
    outcome = record.outcome
    if not isinstance(outcome, Affected | Rows) or (isinstance(outcome, Rows) and effect.returned is None):
        raise UndecidedError("a write with a result set")
    if effect.errors:
        raise _breaks_a_constraint(record, effect)
    if isinstance(outcome, Rows):
        if Counter(outcome.rows) != Counter(effect.returned):
            raise ViolationError(
                record.step,
                RowsWitness(effect.returned or (), tuple(outcome.rows)),
                "RETURNING gives the rows that the statement worked on",
            )
        return
    if outcome.count not in effect.counts:
        raise ViolationError(
            record.step,
            CountWitness(effect.counts, outcome.count),
            "the statement worked on other rows than those it had to see",
        )


def _breaks_a_constraint(record: Record, effect: Effect) -> ViolationError:
    because = "the statement succeeded although it breaks a constraint of its table"
    return ViolationError(record.step, ErrorWitness(effect.errors, None), because)


def adds_rows_only(shape: Shape) -> bool:
    """Whether a statement is an INSERT that leaves alone what is there."""
    return shape.verb is Verb.INSERT and not shape.replaces and shape.tree.args.get("conflict") is None


def _fitting(effects: Sequence[Effect], outcome: Outcome, work: Sequence[Seen]) -> list[Effect]:
    """The effects that fit what was observed and leave different rows behind.

    Of those that leave the same rows, the one with the fewest locks: more are not sure to be held.
    """
    old = dict(work)
    found: dict[frozenset[tuple[int | None, Row | None]], Effect] = {}
    for effect in sorted(effects, key=lambda one: len(one.worked_on)):
        if not effect.errors and _is_told_by(outcome, effect):
            changed = ((one.row, one.values) for one in effect.changes if old.get(one.row or 0) != one.values)
            found.setdefault(frozenset(changed), effect)
    return list(found.values())


def _is_told_by(outcome: Outcome, effect: Effect) -> bool:
    """Whether an effect shows as what was observed."""
    if isinstance(outcome, Rows):
        return effect.returned is not None and Counter(outcome.rows) == Counter(effect.returned)
    return isinstance(outcome, Affected) and outcome.count in effect.counts
