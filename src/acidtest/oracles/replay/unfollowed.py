"""Statements that do more than their text says, or work on what is not known."""

from functools import lru_cache

from sqlglot import exp

from acidtest.model import Schema
from acidtest.oracles.engines.scratch import connected_tables
from acidtest.sql.shape import Shape, Verb

_SYSTEM_COLUMNS = {
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
    "sqlite": frozenset({"rowid", "oid", "_rowid_"}),
    "duckdb": frozenset({"rowid"}),
}


class _ById:
    """A schema by identity: to hash its tables takes longer than the question that is cached."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.schema is self.schema


def why_not_followed(shape: Shape, schema: Schema, grammar: str) -> str:
    """Why it cannot be said what a statement does; empty if it can."""
    return _why_not_followed(shape, _ById(schema), grammar)


@lru_cache(maxsize=4096)
def _why_not_followed(shape: Shape, by_id: _ById, grammar: str) -> str:
    schema = by_id.schema
    tables = {table.name: table for table in schema.tables}
    if not all(name in tables for name in shape.reads):
        return "a table that is not one of the case"
    if {name.lower() for name in schema.functions} & set(shape.calls):
        return "a function of the case's own"
    concerned = set(shape.reads)
    if shape.verb is not Verb.READ:
        concerned |= {other for name in shape.writes for other in connected_tables(schema, name)}
    if any(tables[name].triggers for name in concerned if name in tables):
        return "triggers and rules"
    if shape.only and any(tables[name].children for name in shape.reads):
        return "ONLY a part of a table"
    if shape.locks_inside:
        return "locks inside of a query"
    return "a system column" if _names_system_column(shape, schema, grammar) else ""


def _names_system_column(shape: Shape, schema: Schema, grammar: str) -> bool:
    named = _system_columns(shape, grammar)
    known = (column.name.lower() for name in shape.reads for column in schema.table(name).columns)
    return bool(named) and not named <= set(known)


@lru_cache(maxsize=4096)
def _system_columns(shape: Shape, grammar: str) -> frozenset[str]:
    names = (column.name.lower() for column in shape.tree.find_all(exp.Column))
    return _SYSTEM_COLUMNS.get(grammar, frozenset()) & frozenset(names)
