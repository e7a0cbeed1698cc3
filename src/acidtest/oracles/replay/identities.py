"""Rows that are one by their key though they came to be as two, and rows that a deviation shows twice."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from sqlglot import exp

from acidtest.evaluator.writes import Effect
from acidtest.model import Index, Row, Table
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import Views
from acidtest.oracles.replay.clustered import identity_index, key_in
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.transactions import SessionState
from acidtest.sql.shape import Shape

REPEATED_MAX = 3
"""Of more rows that may show twice nothing is said."""


class Identities:
    """What a transaction sees where a key is what a row is."""

    def __init__(self, context: Context) -> None:
        self._schema = context.history.schema
        self._chains = context.chains

    def distinct(self, state: SessionState, views: Views) -> Views:
        """The views without rows whose key the transaction has given to a row of its own."""
        return {name: self._distinct(state, name, rows) for name, rows in views.items()}

    def _distinct(self, state: SessionState, name: str, rows: Sequence[Seen]) -> Sequence[Seen]:
        table = self._schema.table(name)
        index = identity_index(state.claim, table)
        if index is None or state.transaction is None:
            return rows
        by_key: dict[Row, list[Seen]] = defaultdict(list)
        for seen in rows:
            by_key[key_in(table, index, seen.values)].append(seen)
        if len(by_key) == len(rows):
            return rows
        hidden = {
            seen
            for twins in by_key.values()
            if any(self._is_own(state, name, one) for one in twins)
            for seen in twins
            if not self._is_own(state, name, seen)
        }
        return [seen for seen in rows if seen not in hidden]

    def may_share_a_key(self, state: SessionState, views: Views) -> bool:
        """Whether two rows of a table may have one key, as most collations see it."""
        for name, rows in views.items():
            table = self._schema.table(name)
            index = identity_index(state.claim, table)
            keys = [_folded(key_in(table, index, seen.values)) for seen in rows] if index else []
            if len(set(keys)) < len(keys):
                return True
        return False

    def _is_own(self, state: SessionState, table: str, seen: Seen) -> bool:
        versions = self._chains.versions(table, seen.row)
        return any(one.writer == state.transaction for one in versions)

    # -- rows that show twice

    def locked(self, state: SessionState, shape: Shape, rows: Iterable[int]) -> None:
        """Take note of rows that a statement has locked, if it may have found them by a unique key."""
        if not state.claim.repeats_locked_row or shape.target is None:
            return
        if self._goes_by_unique_key(self._schema.table(shape.target), shape):
            state.locked_by_key |= {(shape.target, row) for row in rows}

    def _goes_by_unique_key(self, table: Table, shape: Shape) -> bool:
        where = shape.tree.args.get("where")
        if where is None or not shape.plain:
            return False
        tests = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
        fixed = {one.this.name.lower() for one in tests if _fixes_a_column(one)}
        return any(
            _is_apart(index) and {one.lower() for one in index.columns} <= fixed for index in table.indexes
        )

    def _shows_twice(self, state: SessionState, table: str, row: int) -> bool:
        """Whether the transaction has locked a row by a key, and left it as it was."""
        if (table, row) not in state.locked_by_key:
            return False
        versions = self._chains.versions(table, row)
        others = {one.values for one in versions if one.writer != state.transaction}
        return all(one.values in others for one in versions if one.writer == state.transaction)

    def counted(self, state: SessionState, shape: Shape, effect: Effect) -> Effect:
        """The effect of a write that may have counted such rows twice."""
        table = shape.target or ""
        if not state.locked_by_key or not _names_a_key(self._schema.table(table), shape):
            return effect
        twice = sum(self._shows_twice(state, table, row) for row in effect.worked_on)
        more = {count + extra for count in effect.counts for extra in range(1, twice + 1)}
        return replace(effect, counts=effect.counts | more) if more else effect

    def with_repeated(self, state: SessionState, views: Views) -> Iterator[Views]:
        """The views with rows twice that the transaction locked by a key and left as they were."""
        for name, rows in views.items():
            locked = [seen for seen in rows if self._shows_twice(state, name, seen.row)]
            for size in range(1, len(locked) + 1) if len(locked) <= REPEATED_MAX else ():
                for chosen in combinations(locked, size):
                    yield {**views, name: [*rows, *chosen]}


def _is_apart(index: Index) -> bool:
    """A unique index that rows are surely not kept by."""
    return index.unique and index.clustered is False


def _fixes_a_column(test: object) -> bool:
    """`column = value` or `column IN (values)`."""
    return isinstance(test, exp.EQ | exp.In) and isinstance(test.this, exp.Column)


def _names_a_key(table: Table, shape: Shape) -> bool:
    """Whether the condition of a statement names a column of a unique index that rows are not kept by."""
    where = shape.tree.args.get("where")
    named = {one.name.lower() for one in where.find_all(exp.Column)} if where is not None else set()
    return any(_is_apart(index) and named & {one.lower() for one in index.columns} for index in table.indexes)


def _folded(key: Row) -> Row:
    """A key as most collations see it."""
    return tuple(one.casefold() if isinstance(one, str) else one for one in key)
