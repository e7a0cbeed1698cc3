"""Unique keys that two rows have at the end although no statement broke one: their transactions did not see
each other, and none of them was made to fail."""

from collections.abc import Sequence

from acidtest.model import Index, Row, Table
from acidtest.oracles.chains import Seen


def broken_key(table: Table, rows: Sequence[Seen]) -> tuple[Index, tuple[int, int]] | None:
    """A unique index and two rows with one key, if there are any. Only equal values surely are one key."""
    positions = {column.name: place for place, column in enumerate(table.columns)}
    for index in table.indexes:
        if not index.unique or index.where is not None or not set(index.columns) <= positions.keys():
            continue
        holders: dict[Row, int] = {}
        for seen in rows:
            key = tuple(seen.values[positions[name]] for name in index.columns)
            if None not in key and holders.setdefault(key, seen.row) != seen.row:
                return index, (holders[key], seen.row)
    return None
