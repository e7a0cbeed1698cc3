"""What a column holds if nothing is said."""

import re

from sqlglot import exp

from acidtest.evaluator.api import compile_assignment
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.model import Column, ErrorKind, Table, Value
from acidtest.sql.trees import parse

_BARE_TEXT = re.compile(r"(?:var)?char|date$", re.IGNORECASE)
"""Types whose defaults MySQL's catalog gives as text without quotes."""


def default_of(column: Column, table: Table, dialect: Dialect) -> Value:
    """What a column holds if nothing is said, or the complaint that something has to be."""
    if column.default is None:
        if not column.nullable and not dialect.writing.nulls_last:
            raise EvaluationError(ErrorKind.NOT_NULL, f"column {column.name} has no default")
        return None
    return default_value(column, table, dialect)


def default_value(column: Column, table: Table, dialect: Dialect) -> Value:
    """The value that a column takes by itself."""
    text = column.default or ""
    if dialect.writing.bare_text_defaults and _BARE_TEXT.match(column.type) and "(" not in text:
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
