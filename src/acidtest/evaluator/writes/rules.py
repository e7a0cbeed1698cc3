"""What a table asks of each row that is stored in it: generated columns, NOT NULL and CHECK."""

from dataclasses import replace

from sqlglot import exp

from acidtest.evaluator.api import CompiledExpression, compile_assignment, compile_predicate
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.model import Column, ErrorKind, Row, Schema, Table
from acidtest.sql.trees import parse


class RowRules:
    """The rules of one table."""

    def __init__(self, table: Table, schema: Schema, dialect: Dialect) -> None:
        self._nulls_last = dialect.writing.nulls_last
        self._generated = [
            (position, _generated(column, table, schema, dialect))
            for position, column in enumerate(table.columns)
            if column.generated
        ]
        self._checks = [
            compile_predicate(expression_of(check.expression, dialect), table, dialect, writes=True)
            for check in table.checks
        ]
        self._required = [
            position
            for position, column in enumerate(table.columns)
            if not column.nullable and (self._nulls_last or column.generated)
        ]
        self._free = not (self._generated or self._checks or self._required)

    def loosened(self, column: Column) -> Column:
        """A column as a single value is stored in it; whether NULL may stay is asked later, or at once."""
        return replace(column, nullable=True) if self._nulls_last else column

    def finished(self, row: Row) -> Row:
        """The row with its generated columns; raises what the DBMS says of one that must not be stored."""
        if self._free:
            return row
        if self._generated:
            row = self._with_generated(row)
        if any(row[position] is None for position in self._required):
            raise EvaluationError(ErrorKind.NOT_NULL)
        if any(check(row) is False for check in self._checks):
            raise EvaluationError(ErrorKind.CHECK)
        return row

    def _with_generated(self, row: Row) -> Row:
        values = list(row)
        for position, expression in self._generated:
            try:
                values[position] = expression(tuple(values))
            except EvaluationError as error:  # a virtual column is not computed when it is stored
                raise Unknown("an error in a generated column") from error
        return tuple(values)


def _generated(column: Column, table: Table, schema: Schema, dialect: Dialect) -> CompiledExpression:
    if column.expression is None:
        raise Unknown("generated columns")
    loose = replace(column, nullable=True)
    return compile_assignment(
        loose, expression_of(column.expression, dialect), table, dialect, catalog=schema
    )


def expression_of(text: str, dialect: Dialect) -> exp.Expression:
    """An expression in the words of the catalog."""
    tree = parse(f"SELECT {text}", dialect.name)
    clauses = {key for key, value in tree.args.items() if value} if tree is not None else set()
    if tree is None or clauses != {"expressions"} or len(tree.expressions) != 1:
        raise Unknown(f"the expression {text}")
    node: exp.Expression = tree.expressions[0].unalias()
    return node
