"""Which rows a write or a locking read works on, and whether another transaction was there before it."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from acidtest.claims import Claim, Lock, OnConflict, Sees
from acidtest.model import Record
from acidtest.oracles.chains import Seen, Version, Visible
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.clustered import (
    assigned,
    is_covered,
    parts_tested,
    scan_place,
    sets_indexed,
)
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.locks import key_positions
from acidtest.oracles.replay.one_table import (
    chooses_among_rows,
    reads_its_table_again,
    tests_rows_alone,
)
from acidtest.oracles.replay.transactions import SessionState
from acidtest.sql.shape import Locking, Shape, Verb

DOUBTFUL_ROWS_MAX = 7


class FoundRows:
    """Finds the rows to work on, the conflicts over them, and those that may have been passed by."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._engine = context.engine
        self._schema = context.history.schema
        self._chains = context.chains
        self._transactions = context.transactions
        self._timeline = context.timeline
        self._visibility = context.visibility
        self._choices = context.choices

    def rows(
        self, state: SessionState, record: Record, shape: Shape, mode: Lock = Lock.EXCLUSIVE
    ) -> tuple[list[Seen], str]:
        """The rows that the statement may work on, and why it must fail with a conflict, if it must."""
        table = shape.target
        if table is None or shape.verb is Verb.INSERT:
            return [], ""
        now = self._chains.view(table, self._visibility.committed(state))
        claim = state.claim
        if claim.write is Sees.COMMITTED:
            self.require_one_moment(state, record, shape)
            if claim.passes_by_dirty and shape.verb is Verb.UPDATE:
                now = self._without_dirty(state, record, shape, now)
            return now, self._newer_than_snapshot(state, record, shape, now)
        return self._rows_of_snapshot(state, record, shape, now, mode)

    def require_one_moment(self, state: SessionState, record: Record, shape: Shape) -> None:
        """A statement over several tables reads some of them before its wait and some after. Where it locks
        what it reads, and the gaps, that makes no difference."""
        locks_all = state.claim.predicate_locks or state.claim.locking_read is not Sees.COMMITTED
        if not record.waited or locks_all or tests_rows_alone(shape) or chooses_among_rows(shape):
            return
        launched = self._timeline.launched_at[record.step]
        if self._has_changed(state, shape, self._visibility.visible(state, Sees.SNAPSHOT, launched)):
            raise UndecidedError("a statement over several tables that waited while they changed")

    def _rows_of_snapshot(
        self, state: SessionState, record: Record, shape: Shape, now: list[Seen], mode: Lock
    ) -> tuple[list[Seen], str]:
        """The rows of a statement that looks for them in its snapshot."""
        assert shape.target is not None
        moment = self._visibility.snapshot(state, record)
        visible = self._visibility.visible(state, Sees.SNAPSHOT, moment)
        then = self._chains.view(shape.target, visible)
        rechecks = state.claim.on_conflict is OnConflict.RECHECK
        if not tests_rows_alone(shape):
            if rechecks and record.waited and self._has_changed(state, shape, visible):
                raise UndecidedError("a statement over several tables that waited while they changed")
            return then, ""
        views = None if shape.plain else self._visibility.views(shape.reads, visible)
        found = set(self._engine.matching(record.sql, shape, then, views))
        if not rechecks:
            return then, self._changed_since(state, record, shape, shape.target, found, moment, mode)
        changed = [seen for seen in now if seen.row in found and seen not in then]
        if changed and mode is Lock.KEY_SHARE:
            raise UndecidedError("FOR KEY SHARE that waited while its rows changed")
        if changed and views is not None:
            found -= self._dropped(state, record, shape, changed, views)
        return [seen for seen in now if seen.row in found], ""

    def _has_changed(self, state: SessionState, shape: Shape, visible: Visible) -> bool:
        now = self._visibility.views(shape.reads, self._visibility.committed(state))
        return now != self._visibility.views(shape.reads, visible)

    def _dropped(
        self, state: SessionState, record: Record, shape: Shape, changed: Sequence[Seen], views: Views
    ) -> set[int]:
        """Rows that fail the second test though they meet the condition: any of them, or none. PostgreSQL may
        have made a join of a subquery, and tests a row only beside the one that it was joined to before."""
        if shape.verb is Verb.READ and reads_its_table_again(shape, state.claim.grammar):
            raise UndecidedError("a subquery over the table whose rows are tested again after a wait")
        left_open = self._engine.matching(record.sql, shape, changed, views)
        if len(left_open) > DOUBTFUL_ROWS_MAX:
            raise UndecidedError("a statement that waited while many of its rows changed")
        if not left_open:
            return set()
        chosen = self._choices.pick(2 ** len(left_open))
        return {row for place, row in enumerate(left_open) if chosen >> place & 1}

    def _without_dirty(
        self, state: SessionState, record: Record, shape: Shape, now: Sequence[Seen]
    ) -> list[Seen]:
        """The rows without those that an UPDATE passes by for what is not committed in them."""
        assert shape.target is not None
        newest = [self._chains.newest(shape.target, seen.row) for seen in now]
        dirty = [one for one in newest if self._transactions.is_foreign(state, one)]
        passed_by = {one.row for one in dirty if self._is_passed_by(record, shape, one)}
        return [seen for seen in now if seen.row not in passed_by]

    def _is_passed_by(
        self, record: Record, shape: Shape, version: Version, views: Views | None = None
    ) -> bool:
        """Whether a version is deleted or does not meet the condition; `views`: what subqueries read."""
        if version.values is None:
            return True
        if not shape.plain and views is None:
            raise UndecidedError("which rows a statement over several tables passes by")
        return not self._engine.matching(record.sql, shape, [Seen(version.row, version.values)], views)

    # -- conflicts

    def lost_at_commit(self, state: SessionState) -> str:
        """Why an optimistic transaction must not commit: a row that it changed has been changed since."""
        if state.transaction is None or not state.moments:
            return ""
        moment = max(state.moments)
        for table in self._chains.tables():
            for row, versions in self._chains.rows(table):
                own = [one for one in versions if one.writer == state.transaction]
                then = self._visibility.values_at(table, row, moment)
                if not own or own[-1].values == then:  # what leaves a row as it was may not count as a write
                    continue
                for one in versions:
                    if self._committed_after(one.writer, moment) and one.values != then:
                        who = self._transactions.owner(one.writer)
                        return f"{who} changed a row of {table} after the snapshot and committed first"
        return ""

    def _committed_after(self, writer: int, moment: int) -> bool:
        return self._chains.is_committed(writer) and not self._chains.committed_by(writer, moment)

    def _newer_than_snapshot(
        self, state: SessionState, record: Record, shape: Shape, now: Sequence[Seen]
    ) -> str:
        """Why a statement that works on the newest rows must fail: they are newer than its snapshot."""
        if state.claim.on_conflict is not OnConflict.FAIL or not state.moments or not shape.plain:
            return ""
        if state.maybe_unopened or shape.target is None:
            return ""
        over_index = state.claim.misses_conflict_over_index and shape.locking is Locking.SHARE
        if over_index and is_covered(self._schema.table(shape.target), shape):
            return ""
        found = set(self._engine.matching(record.sql, shape, now))
        return self._changed_since(state, record, shape, shape.target, found, max(state.moments))

    def _changed_since(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        table: str,
        rows: set[int],
        moment: int,
        mode: Lock = Lock.EXCLUSIVE,
    ) -> str:
        """Why rows that were found in the snapshot cannot be written any more."""
        if state.claim.on_conflict is OnConflict.AT_COMMIT:
            return ""  # that shows at COMMIT
        for row in sorted(rows):
            newest = self._chains.newest(table, row)
            if newest.writer == state.transaction or self._chains.committed_by(newest.writer, moment):
                continue
            if not state.claim.writes_unchanged and self._stays(table, newest, moment):
                continue
            if mode is Lock.KEY_SHARE and self._has_same_keys(table, newest, moment):
                continue
            if state.claim.updates_and_deletes_agree and newest.deleted != self._deletes(shape):
                continue
            if state.claim.puts_updates_together and not self._share_a_column(
                state, record, shape, table, row, moment
            ):
                continue
            who = self._transactions.owner(newest.writer)
            if self._chains.is_committed(newest.writer):
                return f"{who} changed a row of {table} after the snapshot and committed"
            if state.claim.on_conflict is OnConflict.REFUSE:
                return f"{who} has changed a row of {table} and not committed yet"
        return ""

    def _share_a_column(
        self, state: SessionState, record: Record, shape: Shape, table: str, row: int, moment: int
    ) -> bool:
        """Whether the statement sets a column that another transaction has set since a moment."""
        own = assigned(self._schema.table(table), shape)
        if own is not None and state.claim.nulls_are_kept_apart:
            own = self._tested(state, record, shape, own, row, moment)
        others = [
            one
            for one in self._chains.versions(table, row)
            if one.writer != state.transaction and not self._chains.committed_by(one.writer, moment)
        ]
        if state.claim.updates_and_deletes_agree and not self._deletes(shape):
            others = [one for one in others if not one.deleted]
        return any(own is None or one.columns is None or own & one.columns for one in others)

    def _tested(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        columns: frozenset[int],
        row: int,
        moment: int,
    ) -> frozenset[int]:
        """The parts of these columns that the statement is in conflict over with others who set them."""
        assert shape.target is not None
        seen = self._chains.view(shape.target, self._visibility.visible(state, Sees.SNAPSHOT, moment))
        own = [one for one in seen if one.row == row]
        if not shape.plain or self._engine.related(record.sql, shape):
            raise UndecidedError("which parts of a column an UPDATE sets")
        effect = self._engine.effect(record.sql, shape, own, own, {shape.target: own}, None, {})
        new = [one.values for one in effect.changes if one.values is not None]
        if len(new) != 1:
            raise UndecidedError("which parts of a column an UPDATE sets")
        return parts_tested(columns, new[0])

    def _stays(self, table: str, newest: Version, moment: int) -> bool:
        """Whether a row is as it was: not every engine takes note of a write that changes nothing."""
        return newest.values is not None and newest.values == self._visibility.values_at(
            table, newest.row, moment
        )

    def _has_same_keys(self, table: str, newest: Version, moment: int) -> bool:
        """Whether a row still has the keys that it had at a moment."""
        old = self._visibility.values_at(table, newest.row, moment)
        if old is None or newest.values is None:
            return False
        return all(old[i] == newest.values[i] for i in key_positions(self._schema.table(table)))

    def _deletes(self, shape: Shape) -> bool:
        """Whether the statement takes rows away, to put others in their place perhaps."""
        assert shape.target is not None
        return shape.verb is Verb.DELETE or sets_indexed(self._schema.table(shape.target), shape)

    # -- doubts

    def doubtful(
        self,
        state: SessionState,
        record: Record,
        shape: Shape,
        worked_on: Sequence[int],
        views: Views | None = None,
    ) -> frozenset[int]:
        """Rows that match now, but that a statement which waited may have passed by, because they did not
        match or were not there when it came along, and no lock kept others from changing that. One with LIMIT
        may have got all its rows before it came to one that has changed. `views`: what subqueries read."""
        claim = state.claim
        limited = chooses_among_rows(shape) and bool(shape.tree.args.get("limit"))
        one_by_one = shape.plain or limited or (views is not None and tests_rows_alone(shape))
        if not one_by_one or shape.target is None or shape.verb is Verb.INSERT:
            return frozenset()
        dirty_update = claim.passes_by_dirty and shape.verb is Verb.UPDATE
        tables = (shape.target,)
        half_done = self._context.is_half_done(record, tables) or self._context.was_half_done(record, tables)
        if dirty_update and half_done:
            return frozenset(worked_on)  # what a waiting write of another has done so far is not known
        if not record.waited or claim.predicate_locks or claim.on_conflict is not OnConflict.WAIT:
            return frozenset()
        launched = self._timeline.launched_at[record.step]
        doubtful = set()
        for row in worked_on:
            versions = self._chains.versions(shape.target, row)
            then = [one for one in versions if self._chains.committed_by(one.writer, launched)]
            dirty = self._timeline.dirty_at[record.step].get((shape.target, row))
            # What was taken back since may have kept the statement away from a row that is as it was.
            taken_back = claim.passes_by_dirty and dirty is not None
            stays = then[-1:] == [versions[-1]] and not taken_back
            if stays or any(one.writer == state.transaction for one in versions):
                continue
            between = self._in_between(versions, launched)
            if (
                limited
                or not then
                or self._may_pass_by(claim, record, shape, then[-1], dirty, views)
                or any(self._is_passed_by(record, shape, one, views) for one in between)
                or (claim.moved_is_new_row and self._moves_in_an_index(shape.target, then[-1], versions))
            ):
                doubtful.add(row)
        return frozenset(doubtful)

    def _moves_in_an_index(self, table: str, old: Version, versions: Sequence[Version]) -> bool:
        """Whether a row has had another place in some index since an old version."""
        definition = self._schema.table(table)
        names = {name.lower() for index in definition.indexes for name in index.columns}
        places = [i for i, column in enumerate(definition.columns) if column.name.lower() in names]
        later = [one.values for one in versions if one is not old and one.values is not None]
        return old.values is not None and any(
            values[place] != old.values[place] for values in later for place in places
        )

    def _in_between(self, versions: Sequence[Version], moment: int) -> Iterator[Version]:
        """Versions that were the newest committed one for a while after a moment."""
        for one, following in pairwise(versions):
            if one.writer != following.writer and self._committed_after(one.writer, moment):
                yield one

    def _may_pass_by(
        self,
        claim: Claim,
        record: Record,
        shape: Shape,
        old: Version,
        dirty: Version | None,
        views: Views | None,
    ) -> bool:
        """Whether a row did not match when the statement may have come along. A row that was locked then had
        to be waited for, unless the deviations of the claim say otherwise."""
        if dirty is None:
            return self._is_passed_by(record, shape, old, views)
        if shape.verb is not Verb.UPDATE or not (claim.passes_by_unmatched or claim.passes_by_dirty):
            return False
        deciding = old if claim.passes_by_unmatched else dirty
        return self._is_passed_by(record, shape, deciding, views) and not self._is_reached_late(
            claim, record, shape, old, dirty, views
        )

    def _is_reached_late(
        self,
        claim: Claim,
        record: Record,
        shape: Shape,
        old: Version,
        dirty: Version,
        views: Views | None,
    ) -> bool:
        """Whether the statement must have waited for the holder of a row at another row before. Then
        the holder had ended when it came to this one."""
        assert shape.target is not None
        place = scan_place(self._schema.table(shape.target), shape, old)
        for (table, row), held in self._timeline.dirty_at[record.step].items():
            if table != shape.target or row == dirty.row or held.writer != dirty.writer:
                continue
            before = self._committed_at_launch(record, table, row)
            deciding = before if claim.passes_by_unmatched else held
            if before is None or deciding is None or self._is_passed_by(record, shape, deciding, views):
                continue
            other = scan_place(self._schema.table(table), shape, before)
            if place is not None and other is not None and other < place:
                return True
        return False

    def _committed_at_launch(self, record: Record, table: str, row: int) -> Version | None:
        launched = self._timeline.launched_at[record.step]
        versions = self._chains.find(table, row)
        return next(
            (one for one in reversed(versions) if self._chains.committed_by(one.writer, launched)), None
        )


def without_some(work: Sequence[Seen], doubtful: frozenset[int]) -> list[list[Seen]]:
    """The rows without any of the doubtful ones, with some, and with all."""
    if len(doubtful) > DOUBTFUL_ROWS_MAX:
        raise UndecidedError("a statement that waited while many rows came under its condition")
    return [
        [seen for seen in work if seen.row not in left_out]
        for size in range(len(doubtful) + 1)
        for left_out in combinations(sorted(doubtful), size)
    ]
