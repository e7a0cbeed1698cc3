"""What callers use: compile once, evaluate many times."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect, Settings
from acidtest.evaluator.duckdb import DuckDB
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.filters import compile_condition
from acidtest.evaluator.mysql import MariaDB, MySQL, TiDB
from acidtest.evaluator.plan import Plan
from acidtest.evaluator.postgres import PostgreSQL
from acidtest.evaluator.query import compile_outermost
from acidtest.evaluator.relations import add_table
from acidtest.evaluator.result import Result
from acidtest.evaluator.scope import Runtime, Scope
from acidtest.evaluator.sqlite import SQLite
from acidtest.model import Column, Row, Schema, Table, Value

Views = Mapping[str, Sequence[Row]]
"""The rows of each table that a statement sees, as tuples in the order of the table's columns."""

NO_VIEWS: Views = {}

DIALECTS: dict[str, type[Dialect]] = {
    dialect.name: dialect for dialect in (MySQL, MariaDB, TiDB, PostgreSQL, SQLite, DuckDB)
}


def dialect_of(name: str, settings: Settings | None = None, *, version: str = "") -> Dialect:
    """The dialect of a DBMS; `Unknown` if its semantics are not modelled.

    Without settings, those of a fresh server of that version (none: the newest) are taken.
    """
    if name not in DIALECTS:
        raise Unknown(f"the dialect {name}")
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    return DIALECTS[name](settings or DIALECTS[name].settings_for(numbers))


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query ready to run on any views."""

    plan: Plan

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; empty where the DBMS makes one up."""
        return self.plan.columns

    def run(self, views: Views) -> Result:
        """The answer on these views; raises `EvaluationError` or `Unknown`."""
        return Result(self.plan.columns, self.plan.blocks((Runtime(views),)))

    def matches(self, views: Views) -> list[dict[str, int | None]]:
        """For each joined row that passes WHERE: the position in its view of each base table's row, by alias.

        A row that an outer join did not find is None. `Unknown` for queries that group.
        """
        if self.plan.matches is None:
            raise Unknown("which rows a grouped query or a set operation is made of")
        return self.plan.matches((Runtime(views),))


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An expression over one row of one table."""

    fn: Fn

    def bind(self, views: Views = NO_VIEWS) -> Callable[[Row], Any]:
        """A function of a row, for one statement; its subqueries read these views."""
        fn, runtime = self.fn, Runtime(views)
        return lambda row: fn((runtime, *row, 0))

    def __call__(self, row: Row) -> Any:
        """The value for a row; for expressions without subqueries."""
        return self.fn((Runtime(NO_VIEWS), *row, 0))


def compile_query(
    tree: exp.Expression, catalog: Schema, dialect: Dialect, *, writes: bool = False
) -> CompiledQuery:
    """Compile a query. `writes`: it is the source of an INSERT, where strict mode applies.

    Raises `Unknown` if something in it is not modelled, and `EvaluationError` if the DBMS refuses it
    whatever the data.
    """
    compiler = Compiler(dialect, catalog, Scope(), writes=writes and dialect.settings.strict)
    plan = compile_outermost(compiler, tree)
    compiler.finish()
    return CompiledQuery(plan)


def _row_compiler(
    table: Table, catalog: Schema | None, dialect: Dialect, writes: bool, alias: str | None
) -> Compiler:
    strict = writes and dialect.settings.strict
    compiler = Compiler(dialect, catalog or Schema((table,)), Scope(), writes=strict)
    add_table(compiler, table, dialect.table_key(alias or table.name))
    return compiler


def compile_predicate(
    condition: exp.Expression | None,
    table: Table,
    dialect: Dialect,
    *,
    catalog: Schema | None = None,
    writes: bool = False,
    alias: str | None = None,
) -> CompiledExpression:
    """Which rows of a table a condition holds for: True, False or None. No condition holds for all."""
    if condition is None:
        return CompiledExpression(lambda _row: True)
    compiler = _row_compiler(table, catalog, dialect, writes, alias)
    test = compile_condition(compiler, condition, simple=True).test
    compiler.finish()
    return CompiledExpression(test or (lambda _row: True))


def compile_scalar(
    expression: exp.Expression,
    table: Table,
    dialect: Dialect,
    *,
    catalog: Schema | None = None,
    writes: bool = False,
    alias: str | None = None,
) -> CompiledExpression:
    """The value of an expression for a row, as the client is sent it."""
    compiler = _row_compiler(table, catalog, dialect, writes, alias)
    code = dialect.settled(compiler, compiler.compile(expression))
    compiler.finish()
    output = dialect.output(code.type)
    return CompiledExpression(code.fn if output is None else code.then(code.type, output).fn)


def compile_assignment(
    column: Column,
    expression: exp.Expression,
    table: Table,
    dialect: Dialect,
    *,
    catalog: Schema | None = None,
    alias: str | None = None,
) -> CompiledExpression:
    """The value that a column holds after `SET column = expression` (or an INSERT of it) in strict mode.

    `table` gives the row that the expression may read; an INSERT passes the target table and any row.
    """
    compiler = _row_compiler(table, catalog, dialect, True, alias)
    stored = dialect.store(compiler, column, compiler.compile(expression))
    compiler.finish()
    return CompiledExpression(stored)


def compile_conversion(column: Column, source: Column, dialect: Dialect) -> Callable[[Value], Value]:
    """What a column holds after a value of another column's type is stored in it (INSERT ... SELECT)."""
    table = Table("source", (source,))
    compiler = _row_compiler(table, None, dialect, True, None)
    code = compiler.compile(exp.column(exp.to_identifier(source.name, quoted=True)))
    fn = dialect.store(compiler, column, code)
    return lambda value: fn((None, value, 0))
