"""Unique indexes: the key of a row, and rows that would have the same one."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.writes.effect import Change, UniqueIndex, Work
from acidtest.model import ErrorKind, Index, Row, Table


def unique_index(index: Index, table: Table, dialect: Dialect) -> UniqueIndex:
    positions = {column.name: i for i, column in enumerate(table.columns)}
    if any(name not in positions for name in index.columns):
        raise Unknown("a unique index on an expression or a prefix")
    parts = [
        (positions[name], dialect.key(dialect.column_type(table.columns[positions[name]]), ordering=False))
        for name in index.columns
    ]

    def key(row: Row) -> tuple[Any, ...] | None:
        values = [row[position] for position, _ in parts]
        if any(value is None for value in values):
            return None
        return tuple(to_key(value) for (_, to_key), value in zip(parts, values, strict=True))

    return UniqueIndex(index.name, key)


def row_number(table: Table, dialect: Dialect) -> int | None:
    """The column that is the row's own number in SQLite, an INTEGER PRIMARY KEY, which has no index."""
    names = [column.name for column in table.columns]
    keys = [one.columns for one in table.indexes if one.primary and one.name == "rowid"]
    return names.index(keys[0][0]) if keys and dialect.name == "sqlite" else None


def named_indexes(conflict: exp.Expression | None, table: Table, dialect: Dialect) -> frozenset[str]:
    """The unique indexes on just the columns that ON CONFLICT names; none if it names none."""
    keys = conflict.args.get("conflict_keys") if conflict is not None else None
    if not keys:
        return frozenset()
    wanted = {dialect.fold_name(identifier) for key in keys if (identifier := key.find(exp.Identifier))}
    found = frozenset(
        index.name
        for index in table.indexes
        if index.unique and {dialect.column_key(name) for name in index.columns} == wanted
    )
    if not found:
        raise Unknown("the index that ON CONFLICT speaks of")
    return found


def collisions(
    unique: tuple[UniqueIndex, ...], existing: Work, changes: Sequence[Change]
) -> tuple[frozenset[ErrorKind], frozenset[ErrorKind]]:
    """Duplicate keys: surely, if they stand at the end; perhaps, if some order of the rows meets them."""
    duplicate = frozenset({ErrorKind.DUPLICATE_KEY})
    new = {change.row: change.values for change in changes}
    transient = False
    for index in unique:
        old_keys = {row: index.key(values) for row, values in existing}
        new_keys = {
            row: index.key(values) for row, values in new.items() if row is not None and values is not None
        }
        end = [key for key in {**old_keys, **new_keys}.values() if key is not None]
        if len(set(end)) != len(end):
            return duplicate, frozenset()
        moved = {row: key for row, key in new_keys.items() if key is not None and key != old_keys.get(row)}
        transient = transient or any(
            key == old for row, key in moved.items() for other, old in old_keys.items() if other != row
        )
    return frozenset(), duplicate if transient else frozenset()
