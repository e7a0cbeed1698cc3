"""What a statement sees: when its snapshot was taken, and which versions are in it."""

from collections.abc import Iterable, Mapping, Sequence

from acidtest.claims import Sees, SnapshotAt
from acidtest.model import Record, Row
from acidtest.oracles.chains import Chains, Seen, Version, Visible
from acidtest.oracles.replay.timeline import Timeline
from acidtest.oracles.replay.transactions import SessionState
from acidtest.sql import StatementKind, kind_of

_ROW_KINDS = (StatementKind.QUERY, StatementKind.WRITE)


class Visibility:
    """The views of statements, as the claims of their sessions define them."""

    def __init__(self, chains: Chains, timeline: Timeline) -> None:
        self._chains = chains
        self._timeline = timeline

    # -- when the snapshot is taken

    def first_statement(self, state: SessionState, record: Record) -> None:
        """The snapshot of engines that take it with the first statement, whatever that is."""
        if kind_of(record.sql) in _ROW_KINDS:
            self.opens_snapshot(state, record)

    def opens_snapshot(self, state: SessionState, record: Record) -> None:
        """A statement that such engines take the snapshot with."""
        if state.claim.snapshot is not SnapshotAt.FIRST_STATEMENT or state.transaction is None:
            return
        if not state.moments:
            state.moments = (self._chains.clock,)
            state.opened_by = record.step

    def may_be_late(self, state: SessionState, record: Record) -> None:
        """A first statement that waited for a snapshot may have got any that there was since."""
        if state.claim.late_snapshot and record.waited and state.opened_by == record.step:
            launched = self._timeline.launched_at[record.step]
            state.moments = tuple(range(launched, self._chains.clock + 1))

    def only_statement(self, state: SessionState, record: Record) -> None:
        """The same for a statement that is a transaction by itself."""
        if state.claim.snapshot is SnapshotAt.FIRST_STATEMENT:
            state.moments = (self._timeline.launched_at[record.step],)
            state.opened_by = record.step

    def moments(self, state: SessionState, record: Record, alone: bool) -> tuple[int, ...]:
        """Clock readings at which the snapshot of a plain read may have been taken."""
        launched = self._timeline.launched_at[record.step]
        if alone or state.claim.snapshot is SnapshotAt.STATEMENT:
            return (launched,)
        if not state.moments:
            state.maybe_unopened = True
            return (launched,)
        if state.maybe_unopened and launched not in state.moments:
            return (*state.moments, launched)
        return state.moments

    def snapshot(self, state: SessionState, record: Record) -> int:
        """The clock reading of the snapshot that a write or locking read has."""
        if state.claim.snapshot is SnapshotAt.STATEMENT or not state.moments:
            return self._timeline.launched_at[record.step]
        return state.moments[0]

    # -- which versions are visible

    def visible(self, state: SessionState, sees: Sees, moment: int) -> Visible:
        """The test for what a statement sees, with a snapshot of a moment if it has one."""
        own, chains = state.transaction, self._chains
        match sees:
            case Sees.NEWEST:
                return lambda _version: True
            case Sees.COMMITTED:
                return lambda version: version.writer == own or chains.is_committed(version.writer)
            case Sees.SNAPSHOT:
                return lambda version: version.writer == own or chains.committed_by(version.writer, moment)

    def found_by(self, state: SessionState, record: Record, sees: Sees) -> Visible:
        """The test for what a write or a locking read finds."""
        return self.visible(state, sees, self.snapshot(state, record))

    def committed(self, state: SessionState) -> Visible:
        """The test for what is committed by now, or its own."""
        return self.visible(state, Sees.COMMITTED, self._chains.clock)

    def views(self, tables: Sequence[str], visible: Visible) -> dict[str, list[Seen]]:
        """The visible rows of each table."""
        return {table: self._chains.view(table, visible) for table in tables}

    def when_launched(self, record: Record, table: str, rows: Iterable[int]) -> Mapping[int, Version | None]:
        """The versions that rows had when a statement was launched; None for one that was not there."""
        launched = self._timeline.launched_at[record.step]
        found: dict[int, Version | None] = {}
        for row in rows:
            versions = self._chains.versions(table, row)
            then = [one for one in versions if self._chains.committed_by(one.writer, launched)]
            found[row] = then[-1] if then else None
        return found

    def values_at(self, table: str, row: int, moment: int) -> Row | None:
        """What a row held when the clock stood at a moment."""
        versions = [
            one for one in self._chains.versions(table, row) if self._chains.committed_by(one.writer, moment)
        ]
        return versions[-1].values if versions else None
