"""What a column holds after SET, by default, or after a key that exists."""

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from acidtest.evaluator.api import (
    CompiledExpression,
    Views,
    compile_assignment,
)
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.model import Column, ErrorKind, Row, Schema, Table, Value
from acidtest.sql.trees import parse

COUNTS_CHANGES = frozenset({"mysql", "mariadb"})
"""Rows that an UPDATE leaves as they are do not count, and assignments see the ones to their left."""


Assignments = Sequence[tuple[int, CompiledExpression]]


def assign(assignments: Assignments, values: Row, views: Views, *, in_sequence: bool) -> Row:
    """A row after SET; in sequence, later assignments see the earlier ones."""
    new = list(values)
    for position, expression in assignments:
        new[position] = expression.bind(views)(tuple(new) if in_sequence else values)
    return tuple(new)


def assignments_of(
    nodes: Sequence[exp.Expression], table: Table, schema: Schema, dialect: Dialect, alias: str | None
) -> list[tuple[int, CompiledExpression]]:
    compiled = []
    for node in nodes:
        if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column):
            raise Unknown("an assignment of several columns")
        position = position_of(table, dialect, node.this.this)
        column = table.columns[position]
        if is_default(node.expression):
            raise Unknown("SET column = DEFAULT")
        expression = compile_assignment(column, node.expression, table, dialect, catalog=schema, alias=alias)
        compiled.append((position, expression))
    return compiled


def is_default(node: exp.Expression) -> bool:
    """The word DEFAULT, which sqlglot takes for a column's name after SET; a quoted one is a name."""
    return isinstance(node, exp.Column) and node.name.upper() == "DEFAULT" and not node.this.quoted


def with_new_row(node: exp.Expression, table: Table, row: Row) -> exp.Expression:
    """VALUES(c) and EXCLUDED.c stand for the row that could not be inserted."""
    values = dict(zip((column.name.lower() for column in table.columns), row, strict=True))

    def fill(one: exp.Expression) -> exp.Expression:
        if isinstance(one, exp.Anonymous) and str(one.this).upper() == "VALUES":
            return literal_of(values[one.expressions[0].name.lower()])
        if isinstance(one, exp.Column) and one.table.upper() == "EXCLUDED":
            return literal_of(values[one.name.lower()])
        return one

    return node.transform(fill)


_BARE_TEXT = re.compile(r"(?:var)?char|date$", re.IGNORECASE)
"""Types whose defaults MySQL's catalog gives as text without quotes."""


def default_value(column: Column, table: Table, dialect: Dialect) -> Value:
    """The value that a column takes by itself."""
    text = column.default or ""
    if dialect.name == "mysql" and _BARE_TEXT.match(column.type) and "(" not in text:
        literal: Value = compile_assignment(column, exp.Literal.string(text), table, dialect)(
            (None,) * len(table.columns)
        )
        return literal
    node = parse(f"SELECT {column.default}", dialect.name)
    if node is None or not isinstance(node, exp.Select) or not node.expressions:
        raise Unknown(f"the default of column {column.name}")
    expression = node.expressions[0]
    if isinstance(expression, exp.Column):  # MySQL gives the text of a string without quotes
        expression = exp.Literal.string(column.default or "")
    if expression.find(exp.Func, exp.Column) is not None and not isinstance(expression, exp.Cast):
        raise Unknown(f"the default of column {column.name}")
    value: Value = compile_assignment(column, expression, table, dialect)((None,) * len(table.columns))
    return value


def literal_of(value: Value) -> exp.Expression:
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Decimal):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    if isinstance(value, str):
        return exp.Literal.string(value)
    raise Unknown(f"storing a computed {type(value).__name__}")


def position_of(table: Table, dialect: Dialect, identifier: exp.Identifier) -> int:
    wanted = dialect.fold_name(identifier)
    for position, column in enumerate(table.columns):
        if dialect.column_key(column.name) == wanted:
            return position
    raise EvaluationError(ErrorKind.NO_SUCH_OBJECT, f"no column {identifier.name}")


def differ(old: Row, new: Row) -> bool:
    return any(type(a) is not type(b) or a != b for a, b in zip(old, new, strict=True))
