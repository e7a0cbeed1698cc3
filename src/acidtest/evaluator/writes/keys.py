"""Unique indexes: the key of a row, and rows that would have the same one."""

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from sqlglot import exp

from acidtest.evaluator.api import compile_predicate
from acidtest.evaluator.code import Convert, Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.relations import add_table
from acidtest.evaluator.scope import Runtime, Scope
from acidtest.evaluator.writes.effect import Change, UniqueIndex, Work
from acidtest.evaluator.writes.rules import expression_of
from acidtest.model import ErrorKind, Index, Row, Schema, Table, Value

Part = Callable[[Row], Any]
"""One column of a key: None for NULL, else something that is equal as the index compares."""

_PREFIX = re.compile(r"[`\"]?(\w+)[`\"]?\s*\((\d+)\)")
_NULL = ("NULL",)


def unique_index(index: Index, table: Table, schema: Schema, dialect: Dialect) -> UniqueIndex:
    """The keys of an index; partial ones have none for rows that they leave out."""
    parts = [_part(text, table, schema, dialect) for text in index.columns]
    covers = _condition(index, table, dialect)
    nulls_distinct = index.nulls_distinct

    def key(row: Row) -> tuple[Any, ...] | None:
        if covers is not None and covers(row) is not True:
            return None
        values = tuple(part(row) for part in parts)
        if None not in values:
            return values
        return None if nulls_distinct else tuple(_NULL if one is None else one for one in values)

    return UniqueIndex(index.name, key, index.deferrable)


def _condition(index: Index, table: Table, dialect: Dialect) -> Callable[[Row], Any] | None:
    if index.where is None:
        return None
    return compile_predicate(expression_of(index.where, dialect), table, dialect)


def _part(text: str, table: Table, schema: Schema, dialect: Dialect) -> Part:
    positions = {column.name: at for at, column in enumerate(table.columns)}
    if text in positions:
        at = positions[text]
        return _column_part(at, dialect.key(dialect.column_type(table.columns[at]), ordering=False))
    prefix = _PREFIX.fullmatch(text)
    if prefix is not None and prefix[1] in positions:
        at, length = positions[prefix[1]], int(prefix[2])
        to_key = dialect.key(dialect.column_type(table.columns[at]), ordering=False)
        return _column_part(at, lambda value: to_key(_cut(value, length)))
    return _expression_part(text, table, schema, dialect)


def _column_part(at: int, to_key: Convert) -> Part:
    def part(row: Row) -> Any:
        value = row[at]
        return None if value is None else to_key(value)

    return part


def _cut(value: Value, length: int) -> str:
    if not isinstance(value, str):
        raise Unknown("a unique index on the first bytes of a column")
    return value[:length]


def _expression_part(text: str, table: Table, schema: Schema, dialect: Dialect) -> Part:
    compiler = Compiler(dialect, schema, Scope())
    add_table(compiler, table, dialect.table_key(table.name))
    try:
        code = compiler.compile(expression_of(text, dialect))
    except EvaluationError as error:
        raise Unknown("a unique index on an expression") from error
    to_key, fn = dialect.key(code.type, ordering=False), code.fn

    def part(row: Row) -> Any:
        try:
            value = _evaluated(fn, row)
        except EvaluationError as error:
            raise Unknown("an error in the expression of an index") from error
        return None if value is None else to_key(value)

    return part


def _evaluated(fn: Fn, row: Row) -> Any:
    return fn((Runtime({}), *row, 0))


def collisions(
    unique: tuple[UniqueIndex, ...], existing: Work, changes: Sequence[Change]
) -> tuple[frozenset[ErrorKind], frozenset[ErrorKind]]:
    """Duplicate keys: surely, if they stand at the end; perhaps, if some order of the rows meets them."""
    duplicate = frozenset({ErrorKind.DUPLICATE_KEY})
    new = {-at - 1 if one.row is None else one.row: one.values for at, one in enumerate(changes)}
    transient = False
    for index in unique:
        old_keys = {row: index.key(values) for row, values in existing}
        new_keys = {row: index.key(values) for row, values in new.items() if values is not None}
        stays = {row: key for row, key in old_keys.items() if row not in new}
        end = [key for key in (*stays.values(), *new_keys.values()) if key is not None]
        if len(set(end)) != len(end):
            if index.deferrable:
                raise Unknown("whether a deferrable constraint is checked now or at COMMIT")
            return duplicate, frozenset()
        moved = {row: key for row, key in new_keys.items() if key is not None and key != old_keys.get(row)}
        old = [(row, key) for row, key in old_keys.items() if key is not None]
        meets = any(key == other for row, key in moved.items() for at, other in old if at != row)
        transient = transient or (meets and not index.deferrable)
    return frozenset(), duplicate if transient else frozenset()


def row_number(table: Table, dialect: Dialect) -> int | None:
    """The column that is the row's own number in SQLite, an INTEGER PRIMARY KEY, which has no index."""
    names = [column.name for column in table.columns]
    keys = [one.columns for one in table.indexes if one.primary and one.name == "rowid"]
    return names.index(keys[0][0]) if keys and dialect.name == "sqlite" else None


def named_indexes(
    conflict: exp.Expression | None, table: Table, unique: Sequence[UniqueIndex], dialect: Dialect
) -> frozenset[str]:
    """The unique indexes that ON CONFLICT speaks of; none if it names none."""
    if conflict is None:
        return frozenset()
    constraint = conflict.args.get("constraint")
    if constraint is not None:
        found = frozenset(one.name for one in unique if one.name == dialect.fold_name(constraint))
    else:
        keys = conflict.args.get("conflict_keys")
        if not keys:
            return frozenset()
        found = _inferred(keys, conflict.args.get("index_predicate"), table, dialect)
    if not found:
        raise Unknown("the index that ON CONFLICT speaks of")
    return found


def _inferred(
    keys: Sequence[exp.Expression], predicate: exp.Expression | None, table: Table, dialect: Dialect
) -> frozenset[str]:
    """The indexes on just these columns; a partial one only if its condition is the one that is given."""
    nodes = [key.this if isinstance(key, exp.Ordered) else key for key in keys]
    if not all(isinstance(node, exp.Column | exp.Identifier) for node in nodes):
        raise Unknown("ON CONFLICT over an expression")
    names = [node.this if isinstance(node, exp.Column) else node for node in nodes]
    wanted = {dialect.fold_name(cast(exp.Identifier, name)) for name in names}
    given = _spelled(predicate.this) if predicate is not None else None
    candidates = [
        one
        for one in table.indexes
        if one.unique and {dialect.column_key(name) for name in one.columns} == wanted
    ]
    if predicate is None:  # a partial index has to be asked for by its condition
        candidates = [one for one in candidates if one.where is None]
    if not candidates and dialect.name == "postgres":
        raise EvaluationError(ErrorKind.SYNTAX, "no unique index is the one of ON CONFLICT")  # 42P10
    return frozenset(
        one.name
        for one in candidates
        if one.where is None or _spelled(expression_of(one.where, dialect)) == given
    )


def _spelled(node: exp.Expression) -> str:
    bare = node.unnest() if isinstance(node, exp.Paren) else node
    return str(bare.sql(normalize=True, identify=False)).lower().replace('"', "")
