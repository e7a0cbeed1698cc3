"""What a write that waits has done so far: others may see the rows that it came to before it had to wait."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from acidtest.claims import OnConflict, Sees
from acidtest.model import Record, Row
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import UndecidedError, Views
from acidtest.oracles.replay.clustered import assigned, clustered_index
from acidtest.oracles.replay.context import HALF_DONE, Context
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.unfollowed import why_not_followed
from acidtest.sql.shape import Shape, Verb

WAYS_MAX = 64
"""So many states in between are tried."""

_Ways = Mapping[tuple[str, int], list[Row | None]]
"""What each row of a table may be, besides what it was; None: deleted."""


class HalfDone:
    """The states in between of writes that wait. Whatever such a write has changed it has locked, so the rows
    that nobody else has written since are as it left them, or as it has yet to find them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._schema = context.history.schema
        self._engine = context.engine
        self._chains = context.chains
        self._transactions = context.transactions

    def views(self, record: Record, views: Views) -> Iterator[Views]:
        """Every state in which another session may find these tables."""
        ways: dict[tuple[str, int], list[Row | None]] = {}
        for state, other, shape in self._waiting(record, views):
            for key, values in self._changes(state, other, shape):
                if values not in ways.setdefault(key, []):
                    ways[key].append(values)
        count = 1
        for options in ways.values():
            count *= len(options) + 1
        if count > WAYS_MAX:
            raise UndecidedError(HALF_DONE)
        return self._combined(views, ways)

    def is_certain(self, record: Record, views: Views) -> bool:
        """Whether a row can only be as before or as after. Where there are more indexes than the one that
        rows are kept by, or a row moves in that, a read may also come upon it in neither place."""
        return all(self._keeps_places(shape) for _, _, shape in self._waiting(record, views))

    def _keeps_places(self, shape: Shape) -> bool:
        assert shape.target is not None
        table = self._schema.table(shape.target)
        clustered = clustered_index(table)
        if any(index is not clustered for index in table.indexes):
            return False
        if clustered is None or shape.verb is Verb.DELETE:
            return True
        set_here = {table.columns[place].name.lower() for place in assigned(table, shape) or ()}
        return not set_here & {name.lower() for name in clustered.columns}

    def _waiting(self, record: Record, views: Views) -> Iterator[tuple[SessionState, Record, Shape]]:
        """Writes of others on these tables that have begun and not ended."""
        for session, step in self._context.timeline.in_flight.items():
            state, other = self._transactions.sessions[session], self._context.history.records[step]
            shape = state.shape(other)
            if session == record.session or shape is None or shape.verb is Verb.READ:
                continue
            if set(shape.writes) & set(views):
                self._require_simple(state, shape)
                yield state, other, shape

    def _require_simple(self, state: SessionState, shape: Shape) -> None:
        """What is followed: an UPDATE or DELETE that tests each row of one table by itself."""
        simple = shape.plain and shape.verb in (Verb.UPDATE, Verb.DELETE) and len(shape.writes) == 1
        claimed = state.claim.write is Sees.COMMITTED and state.claim.on_conflict is OnConflict.WAIT
        if not simple or not claimed or why_not_followed(shape, self._schema, state.claim.grammar):
            raise UndecidedError(HALF_DONE)

    def _changes(
        self, state: SessionState, other: Record, shape: Shape
    ) -> Iterator[tuple[tuple[str, int], Row | None]]:
        """What the write makes of the rows that it may have come to: nobody else holds them."""
        assert shape.target is not None
        table = shape.target
        living = self._chains.view(table, self._context.visibility.committed(state))
        rows = [
            seen
            for seen in living
            if not self._transactions.is_foreign(state, self._chains.newest(table, seen.row))
        ]
        if self._engine.related(other.sql, shape):
            raise UndecidedError(HALF_DONE)
        effect = self._engine.effect(other.sql, shape, rows, rows, {table: rows}, None, {})
        if effect.errors:
            raise UndecidedError(HALF_DONE)
        for change in effect.changes:
            assert change.row is not None
            yield (table, change.row), change.values

    def _combined(self, views: Views, ways: _Ways) -> Iterator[Views]:
        keys = list(ways)
        unchanged: tuple[Row | None, bool] = (None, False)
        options = [[unchanged, *((values, True) for values in ways[key])] for key in keys]
        for chosen in product(*options):
            new = {key: values for key, (values, changed) in zip(keys, chosen, strict=True) if changed}
            yield {table: _with(rows, table, new) for table, rows in views.items()}


def _with(rows: Sequence[Seen], table: str, new: Mapping[tuple[str, int], Row | None]) -> list[Seen]:
    """The rows of a table with the new versions of some."""
    after = ((seen.row, new.get((table, seen.row), seen.values)) for seen in rows)
    return [Seen(row, values) for row, values in after if values is not None]
