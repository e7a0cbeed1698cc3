"""Statements compiled once: the evaluator's part of the work, which knows nothing of transactions."""

from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import exp

from acidtest.evaluator import (
    CompiledExpression,
    CompiledQuery,
    compile_predicate,
    compile_query,
    dialect_of,
)
from acidtest.evaluator.writes import Write, compile_write, has_strict_condition, is_joined
from acidtest.model import Schema, Table
from acidtest.simulated.problems import unsupported
from acidtest.sql.shape import Locking, Shape, Verb, shape_of

GRAMMAR = "mysql"
DIALECT = dialect_of("mariadb")


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A query. `scans`: the rows that it has to lock if it locks any; None stands for all rows of a table."""

    query: CompiledQuery
    columns: tuple[str, ...]
    scans: dict[str, CompiledExpression | None]


@dataclass(frozen=True, slots=True)
class WritePart:
    """What is written in one go. `unchecked` does the same without minding unique keys."""

    checked: Write
    unchecked: Write


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A write: an INSERT of several rows is done row by row. `chooses` tells the rows to change or delete."""

    parts: tuple[WritePart, ...]
    chooses: CompiledExpression | None
    sources: tuple[str, ...]
    overwrites: bool
    """REPLACE, or ON DUPLICATE KEY UPDATE: it writes rows whose keys it meets."""


def known_shape(sql: str) -> Shape:
    """What a statement does."""
    shape = shape_of(sql, GRAMMAR)
    if shape is None:
        raise unsupported(f"the statement {sql!r}")
    return shape


@lru_cache(maxsize=8192)
def read_plan(sql: str, schema: Schema) -> ReadPlan:
    """Compile a query."""
    shape = known_shape(sql)
    tree = shape.tree
    single = (
        isinstance(tree, exp.Select)
        and len(list(tree.find_all(exp.Select))) == 1
        and len(list(tree.find_all(exp.Table))) == 1
    )
    locks = list(tree.find_all(exp.Lock))
    if shape.locking is not Locking.NONE and len(list(tree.find_all(exp.Query))) > 1:
        raise unsupported("locking reads with subqueries")  # what they lock and see depends on each part
    if any(lock.parent is not tree for lock in locks) or len(locks) > 1:
        raise unsupported("this place for a locking clause")
    query = compile_query(tree, schema, DIALECT)
    scans: dict[str, CompiledExpression | None] = dict.fromkeys(shape.reads)
    if single and shape.where is not None:
        (name,) = shape.reads
        scans[name] = compile_predicate(shape.where, schema.table(name), DIALECT, alias=shape.alias)
    return ReadPlan(query, _column_names(query, tree), scans)


@lru_cache(maxsize=8192)
def write_plan(sql: str, schema: Schema) -> WritePlan:
    """Compile an INSERT, UPDATE or DELETE."""
    shape = known_shape(sql)
    assert shape.target is not None
    if shape.verb is Verb.MERGE or shape.returns or shape.writes_inside or is_joined(shape.tree):
        raise unsupported("this write")
    unconditional = replace(shape, where=None)
    parts = [_part(one, schema) for one in _row_by_row(unconditional)]
    chooses = None
    if shape.verb is not Verb.INSERT:
        table = schema.table(shape.target)
        strict = has_strict_condition(shape.verb, DIALECT)
        chooses = compile_predicate(
            shape.where, table, DIALECT, catalog=schema, writes=strict, alias=shape.alias
        )
    overwrites = shape.replaces or shape.tree.args.get("conflict") is not None
    return WritePlan(tuple(parts), chooses, _sources(shape.tree), overwrites)


def _part(shape: Shape, schema: Schema) -> WritePart:
    keyless = Schema(tuple(_without_keys(table) for table in schema.tables))
    return WritePart(compile_write(shape, schema, DIALECT), compile_write(shape, keyless, DIALECT))


def _without_keys(table: Table) -> Table:
    return replace(table, indexes=())


def _row_by_row(shape: Shape) -> list[Shape]:
    """One INSERT for each row of VALUES; anything else as it is."""
    values = shape.tree.args.get("expression")
    if shape.verb is not Verb.INSERT or not isinstance(values, exp.Values) or len(values.expressions) < 2:
        return [shape]
    bare = shape.tree.copy()
    bare.expression.set("expressions", [])
    rows = []
    for row in values.expressions:
        tree = bare.copy()
        tree.expression.set("expressions", [row.copy()])
        rows.append(replace(shape, tree=tree))
    return rows


def _sources(tree: exp.Expression) -> tuple[str, ...]:
    """Tables that a write reads beside the one it writes; that one too, if a subquery names it."""
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return tuple(dict.fromkeys(table.name for table in tree.find_all(exp.Table) if table is not target))


def _column_names(query: CompiledQuery, tree: exp.Expression) -> tuple[str, ...]:
    """Names of the result's columns; MariaDB names an expression after its text."""
    if all(query.columns) or not isinstance(tree, exp.Query) or len(tree.selects) != len(query.columns):
        return query.columns
    texts = [node.sql(dialect=GRAMMAR) for node in tree.selects]
    return tuple(name or text for name, text in zip(query.columns, texts, strict=True))
