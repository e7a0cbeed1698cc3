"""The table that a write is about, with all that decides what may be stored in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.filters import compile_condition
from acidtest.evaluator.query import add_common_tables
from acidtest.evaluator.relations import add_table
from acidtest.evaluator.scope import Scope
from acidtest.evaluator.writes.effect import UniqueIndex
from acidtest.evaluator.writes.keys import unique_index
from acidtest.evaluator.writes.references import References
from acidtest.evaluator.writes.rules import RowRules
from acidtest.model import Column, ErrorKind, Schema, Table
from acidtest.sql.shape import Shape, Verb

_MADE_MAX = 64
"""Tables whose rules a dialect keeps."""


def _parts(
    table: Table, schema: Schema, dialect: Dialect
) -> tuple[tuple[UniqueIndex, ...], RowRules, References]:
    unique = tuple(unique_index(one, table, schema, dialect) for one in table.indexes if one.unique)
    return unique, RowRules(table, schema, dialect), References(table, schema, dialect)


@dataclass(frozen=True, slots=True)
class Target:
    """A table in a statement that writes it."""

    table: Table
    name: str
    schema: Schema
    dialect: Dialect
    unique: tuple[UniqueIndex, ...]
    rules: RowRules
    references: References

    @classmethod
    def of(cls, table: Table, name: str | None, schema: Schema, dialect: Dialect) -> "Target":
        """The target by its table; `name` is its alias."""
        if table.triggers:
            raise Unknown("triggers")
        known = dialect.made.get(id(table))
        if known is None or known[0] is not table or known[1] is not schema:
            known = (table, schema, _parts(table, schema, dialect))
            if len(dialect.made) >= _MADE_MAX:
                dialect.made.clear()
            dialect.made[id(table)] = known
        return cls(table, dialect.table_key(name or table.name), schema, dialect, *known[2])

    def scope(
        self, common: exp.Expression | None = None, *, excluded: str = "", strict: bool = True
    ) -> Compiler:
        """A compiler for expressions over one row of it; with `excluded`, also over one that came in vain."""
        compiler = empty_scope(self.schema, self.dialect, common, strict=strict)
        add_table(compiler, self.table, self.name)
        if excluded:
            alone = not self.dialect.writing.ambiguous_excluded
            add_table(compiler, self.table, self.dialect.table_key(excluded), qualified=alone)
        return compiler

    def position(self, identifier: exp.Identifier) -> int:
        """Where a column stands."""
        wanted = self.dialect.fold_name(identifier)
        for position, column in enumerate(self.table.columns):
            if self.dialect.column_key(column.name) == wanted:
                return position
        raise EvaluationError(ErrorKind.NO_SUCH_OBJECT, f"no column {identifier.name}")

    def column(self, position: int) -> Column:
        """A column as values are stored in it one by one."""
        column = self.table.columns[position]
        return self.rules.loosened(column)


def empty_scope(
    schema: Schema, dialect: Dialect, common: exp.Expression | None = None, *, strict: bool = True
) -> Compiler:
    """A compiler for the expressions of a write that see no row yet."""
    compiler = Compiler(dialect, schema, Scope(), writes=strict and dialect.settings.strict)
    if common is not None:
        add_common_tables(compiler, common)
    return compiler


def condition_of(shape: Shape, compiler: Compiler, *, simple: bool = True) -> Fn:
    """WHERE as True, False or None."""
    if shape.where is None:
        return _always
    return compile_condition(compiler, shape.where, simple=simple).test or _always


def has_strict_condition(verb: Verb, dialect: Dialect) -> bool:
    """Whether a division by zero or a truncation in WHERE fails the write: in MariaDB's DELETE it warns."""
    return not (verb is Verb.DELETE and dialect.name == "mariadb")


def _always(_row: JoinedRow) -> bool:
    return True


def joined(runtime: Any, row: Sequence[Any]) -> JoinedRow:
    """A row as compiled expressions take it."""
    return (runtime, *row, 0)
