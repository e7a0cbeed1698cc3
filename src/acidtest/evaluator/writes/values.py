"""What a column holds after SET, or after a key that exists."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.writes.defaults import default_of
from acidtest.evaluator.writes.target import Target
from acidtest.model import Row, Value
from acidtest.sql.shape import DEFAULT_OF


@dataclass(frozen=True, slots=True)
class Assignments:
    """What SET does to a row; in sequence, later assignments see the earlier ones."""

    parts: tuple[tuple[int, Fn], ...]
    in_sequence: bool

    def apply(self, row: Row, before: JoinedRow, after: JoinedRow = (0,)) -> Row:
        """The row afterwards; `before` and `after` are what stands around it in the joined row."""
        joined = (*before, *row, *after)
        new = list(row)
        for position, fn in self.parts:
            new[position] = fn(joined)
            if self.in_sequence:
                joined = (*before, *new, *after)
        return tuple(new)


def assignments_of(
    nodes: Sequence[exp.Expression], target: Target, compiler: Compiler, *, in_sequence: bool | None = None
) -> Assignments:
    """The compiled SET clause; in sequence as the DBMS does it in an UPDATE, if nothing else is said."""
    knows_defaults(compiler, target)
    if in_sequence is None:
        in_sequence = target.dialect.writing.assigns_in_sequence
    parts: list[tuple[int, Fn]] = []
    for name, value in _pairs(nodes):
        position = target.position(name)
        column = target.column(position)
        if column.generated:
            _refuse_value(target, value)
        elif is_default(value):
            default = default_of(target.table.columns[position], target.table, target.dialect)
            parts.append((position, _constant(default)))
        else:
            code = compiler.compile(value)
            parts.append((position, target.dialect.store(compiler, column, code)))
    if not in_sequence and len({position for position, _ in parts}) != len(parts):
        raise Unknown("two assignments to one column")
    compiler.finish()
    return Assignments(tuple(parts), in_sequence)


def _pairs(nodes: Sequence[exp.Expression]) -> list[tuple[exp.Identifier, exp.Expression]]:
    """Columns with what they are set to; (a, b) = (1, 2) is two of them."""
    pairs: list[tuple[exp.Identifier, exp.Expression]] = []
    for node in nodes:
        if not isinstance(node, exp.EQ):
            raise Unknown("an assignment of several columns")
        left, right = [node.this], [node.expression]
        if isinstance(node.this, exp.Tuple):
            if not isinstance(node.expression, exp.Tuple):
                raise Unknown("an assignment of several columns")
            left, right = node.this.expressions, node.expression.expressions
        if len(left) != len(right) or not all(isinstance(one, exp.Column) for one in left):
            raise Unknown("an assignment of several columns")
        pairs += zip((one.this for one in left), right, strict=True)
    return pairs


def _refuse_value(target: Target, value: exp.Expression) -> None:
    if is_default(value):
        return
    kind = target.dialect.writing.refuses_generated
    if kind is None:
        raise Unknown("a value for a generated column")
    raise EvaluationError(kind, "a value for a generated column")


def is_default(node: exp.Expression) -> bool:
    """The word DEFAULT, which sqlglot takes for a column's name after SET; a quoted one is a name."""
    if isinstance(node, exp.Var):
        return str(node.this).upper() == "DEFAULT"
    return isinstance(node, exp.Column) and node.name.upper() == "DEFAULT" and not node.this.quoted


def knows_defaults(compiler: Compiler, target: Target) -> Compiler:
    """A compiler that reads DEFAULT(c) as the default of that column."""

    def default(inner: Compiler, node: exp.Anonymous) -> Code:
        named = node.expressions[0]
        position = target.position(named.this if isinstance(named, exp.Column) else named)
        column = target.table.columns[position]
        return inner.compile(literal_of(default_of(column, target.table, target.dialect)))

    compiler.functions[DEFAULT_OF.upper()] = default
    return compiler


def _constant(value: Value) -> Fn:
    return lambda _row: value


def literal_of(value: Value) -> exp.Expression:
    """A value as a constant that takes its type from where it is stored."""
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Decimal):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return exp.cast(exp.Literal.string(str(value)), "date")
    if isinstance(value, float):
        number = exp.Literal.number(f"{abs(value)!r}e0" if "e" not in repr(value) else repr(abs(value)))
        return exp.Neg(this=number) if value < 0 else number
    raise Unknown(f"storing a computed {type(value).__name__}")


def differ(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Whether a row has changed, to the last digit."""
    return any(type(a) is not type(b) or a != b for a, b in zip(old, new, strict=True))
