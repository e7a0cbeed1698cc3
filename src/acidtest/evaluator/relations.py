"""FROM clauses: base tables, derived tables and joins, as lists of joined rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from acidtest.evaluator.code import Code, Fn, JoinedRow, unsure
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.logic import both
from acidtest.evaluator.scope import Field, Scope, Source
from acidtest.evaluator.types import OPAQUE, SqlType
from acidtest.model import Column, ErrorKind, Schema, Table

if TYPE_CHECKING:
    from acidtest.evaluator.plan import Plan

Rows = Callable[[JoinedRow], list[JoinedRow]]
"""From the enclosing queries' row to joined rows, or to the columns of one source alone."""

PlanOf = Callable[[Compiler, exp.Expression], "Plan"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A FROM clause. `simple`: one base table, whose rows the server reads one by one."""

    rows: Rows
    simple: bool


def compile_from(compiler: Compiler, node: exp.Select, plan_of: PlanOf) -> Relation:
    """The FROM clause of a query; its columns are added to the compiler's scope."""
    clause = node.args.get("from_")
    joins = node.args.get("joins") or []
    if clause is None:
        return Relation(lambda base: [base], simple=False)
    parts = _source(compiler, clause.this, plan_of)
    rows: Rows = _first(parts)
    commas = False
    for join in joins:
        is_comma = not any(join.args.get(key) for key in ("on", "using", "kind", "side", "method"))
        if commas and not is_comma:
            raise Unknown("JOIN after a comma")
        commas = is_comma
        rows = _join(compiler, join, rows, plan_of)
    return Relation(rows, simple=not joins and isinstance(clause.this, exp.Table))


def _first(parts: Rows) -> Rows:
    return lambda base: [base + part for part in parts(base)]


def _join(compiler: Compiler, join: exp.Join, left: Rows, plan_of: PlanOf) -> Rows:
    scope = compiler.scope
    method, side, kind = (str(join.args.get(key) or "") for key in ("method", "side", "kind"))
    if method or kind not in ("", "INNER", "CROSS", "OUTER", "STRAIGHT_JOIN", "STRAIGHT"):
        raise Unknown(f"{method or kind} JOIN")
    before = scope.width
    fields_before = list(scope.sources)
    right = _source(compiler, join.this, plan_of)
    test = _join_condition(compiler, join, fields_before, side)
    left_gap = (None,) * (before - scope.base)
    right_gap = (None,) * (scope.width - before)
    if side == "":
        return _inner(left, right, test)
    if test is None:
        raise EvaluationError(ErrorKind.SYNTAX, "outer join without a condition")
    return _outer(left, right, test, left_gap, right_gap, side)


def _join_condition(compiler: Compiler, join: exp.Join, before: Sequence[Source], side: str) -> Fn | None:
    if join.args.get("using"):
        return _using(compiler, join, before, side)
    condition = join.args.get("on")
    if condition is None:
        return None
    if not compiler.dialect.joins_on_subqueries and condition.find(exp.Query) is not None:
        raise Unknown("a subquery in the condition of a JOIN")
    code = compiler.compile(condition)
    test = compiler.truth(code)
    return unsure(test) if code.fails else test


def _using(compiler: Compiler, join: exp.Join, before: Sequence[Source], side: str) -> Fn:
    if side not in ("", "LEFT"):
        raise Unknown(f"USING in a {side} JOIN")
    scope = compiler.scope
    test: Fn | None = None
    for identifier in join.args["using"]:
        name = compiler.dialect.fold_name(identifier)
        left = scope.merged.get(name) or Scope(sources=list(before)).find(name, None)
        right = Scope(sources=scope.sources[-1:]).find(name, None)
        pair = compiler.truth(compiler.equal(_field_code(left), _field_code(right)))
        test = pair if test is None else both(test, pair)
        scope.merged[name] = left
    if test is None:
        raise Unknown("USING without columns")
    return test


def _field_code(field: Field) -> Code:
    slot = field.slot
    return Code(field.type, lambda row: row[slot], column=True)


def _inner(left: Rows, right: Rows, test: Fn | None) -> Rows:
    def rows(base: JoinedRow) -> list[JoinedRow]:
        parts = right(base)
        pairs = (one + two for one in left(base) for two in parts)
        return list(pairs) if test is None else [row for row in pairs if test(row) is True]

    return rows


def _outer(left: Rows, right: Rows, test: Fn, left_gap: JoinedRow, right_gap: JoinedRow, side: str) -> Rows:
    def rows(base: JoinedRow) -> list[JoinedRow]:
        parts = right(base)
        met: set[int] = set()
        joined: list[JoinedRow] = []
        for one in left(base):
            matches = [at for at, two in enumerate(parts) if test(one + two) is True]
            met.update(matches)
            joined.extend(one + parts[at] for at in matches)
            if not matches and side in ("LEFT", "FULL"):
                joined.append(one + right_gap)
        if side in ("RIGHT", "FULL"):
            joined.extend(base + left_gap + two for at, two in enumerate(parts) if at not in met)
        return joined

    return rows


def _source(compiler: Compiler, node: exp.Expression, plan_of: PlanOf) -> Rows:
    if isinstance(node, exp.Table):
        return _table(compiler, node)
    if isinstance(node, exp.Subquery):
        if node.args.get("joins"):
            raise Unknown("joins in parentheses")
        return _derived(compiler, plan_of(compiler, node.this), node)
    raise Unknown(f"{node.key} in FROM")


def _table(compiler: Compiler, node: exp.Table) -> Rows:
    if isinstance(node.this, exp.ExplodingGenerateSeries):
        return _series(compiler, node)
    if not isinstance(node.this, exp.Identifier):
        raise Unknown("table functions")
    if any(node.args.get(key) for key in ("partition", "pivots", "sample", "version", "joins", "db")):
        raise Unknown("a table reference with more than a name and an alias")
    name = compiler.dialect.fold_table(node.this)
    if name in compiler.plans:
        return _derived(compiler, compiler.plans[name], node, default_name=name)
    table = find_table(compiler.catalog, compiler.dialect, name)
    if node.args.get("only") and table.children:
        raise Unknown("ONLY a table that has partitions or heirs")
    alias = node.args.get("alias")
    known = compiler.dialect.fold_table(alias.this) if alias else name
    add_table(compiler, table, known)
    if known in compiler.written:
        return lambda base: [(*row, at) for at, row in enumerate(base[0].work[known])]
    stored = table.name
    return lambda base: [(*row, at) for at, row in enumerate(base[0].views[stored])]


SERIES_MAX = 20_000
"""Rows of a series before it takes too long."""


def _series(compiler: Compiler, node: exp.Table) -> Rows:
    """generate_series over constant integers. Its alias names the table, and its column if no other does:
    https://www.postgresql.org/docs/current/queries-table-expressions.html#QUERIES-TABLEFUNCTIONS"""
    bounds = [node.this.args.get(part) for part in ("start", "end", "step")]
    start, end, step = (_constant_integer(one) if one is not None else 1 for one in bounds)
    if step == 0:
        raise Unknown("a series without a step")
    numbers = range(start, end + (1 if step > 0 else -1), step)
    if len(numbers) > SERIES_MAX:
        raise Unknown(f"a series of more than {SERIES_MAX} rows")
    alias = node.args.get("alias")
    name = compiler.dialect.fold_table(alias.this) if alias and alias.this else "generate_series"
    columns = alias.args.get("columns") or [] if alias else []
    column = compiler.dialect.fold_name(columns[0]) if columns else name
    scope = compiler.scope
    largest = exp.Literal.number(max(map(abs, (start, end, step))))
    scope.sources.append(Source(name, (Field(column, compiler.compile(largest).type, scope.width),)))
    scope.width += 1
    return lambda _base: [(number,) for number in numbers]


def _constant_integer(node: exp.Expression) -> int:
    if isinstance(node, exp.Neg):
        return -_constant_integer(node.this)
    if isinstance(node, exp.Literal) and node.is_int:
        return int(node.this)
    raise Unknown("a series whose bounds are no integers")


def find_table(catalog: Schema, dialect: Dialect, name: str) -> Table:
    """The table of that name; what is none of the case may be a view, or the server's own."""
    for table in catalog.tables:
        if dialect.table_key(table.name) == name:
            return table
    raise Unknown(f"table {name}, which is not one of the case")


def add_table(compiler: Compiler, table: Table, name: str, *, qualified: bool = False) -> Source:
    """Make the columns of a base table known; one more slot holds the row's position in its view."""
    scope, dialect = compiler.scope, compiler.dialect
    fields = tuple(
        Field(dialect.column_key(column.name), _stored_type(dialect, column), slot)
        for slot, column in enumerate(table.columns, scope.width)
    )
    identity = scope.width + len(fields)
    primary = next((index.columns for index in table.indexes if index.primary), ())
    keys = frozenset(
        field.slot for field, column in zip(fields, table.columns, strict=True) if column.name in primary
    )
    source = Source(name, fields, table.name, identity, keys, qualified)
    if any(other.name == name for other in scope.sources):
        raise EvaluationError(ErrorKind.SYNTAX, f"table name {name} is not unique")
    scope.sources.append(source)
    scope.width = identity + 1
    return source


def _stored_type(dialect: Dialect, column: Column) -> SqlType:
    try:
        return dialect.column_type(column)
    except Unknown:
        return OPAQUE


def _derived(compiler: Compiler, plan: "Plan", node: exp.Expression, default_name: str = "") -> Rows:
    scope, dialect = compiler.scope, compiler.dialect
    alias = node.args.get("alias")
    name = dialect.fold_table(alias.this) if alias and alias.this else default_name
    renamed = [dialect.fold_name(column) for column in alias.args.get("columns") or []] if alias else []
    names = renamed + [dialect.column_key(column) for column in plan.columns[len(renamed) :]]
    fields = tuple(
        Field(column, dialect.derived(type_), scope.width + at)
        for at, (column, type_) in enumerate(zip(names, plan.types, strict=True))
    )
    if plan.correlated:
        raise Unknown("LATERAL")
    scope.sources.append(Source(name, fields))
    scope.width += len(fields)
    return lambda base: list(plan.rows(base))
