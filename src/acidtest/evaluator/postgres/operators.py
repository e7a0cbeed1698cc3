"""Literals, arithmetic, bit operations and comparisons."""

import math
import operator
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, strict
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.postgres import values
from acidtest.evaluator.postgres.types import (
    INT4,
    INT8,
    NUMERIC,
    UNTYPED,
    as_number,
    as_text,
    as_timestamp,
    no_operator,
    settle,
    text_type,
    widest,
)
from acidtest.evaluator.types import BOOLEAN, DATE, DOUBLE, INTEGER, Family, SqlType
from acidtest.model import ErrorKind


def literal(_compiler: Compiler, node: exp.Literal) -> Code:
    """A number has a type; a text waits for one."""
    text = str(node.this)
    if node.is_string:
        return constant_code(SqlType(Family.LITERAL), text, literal=True)
    return _number(Decimal(text), whole=text.isdigit())


def _number(value: Decimal, *, whole: bool) -> Code:
    if whole and -(1 << 63) <= value < 1 << 63:
        type_ = INT4 if -(1 << 31) <= value < 1 << 31 else INT8
        return constant_code(type_, int(value), literal=True)
    return constant_code(NUMERIC, values.plain_numeric(value), literal=True)


def boolean(_compiler: Compiler, node: exp.Boolean) -> Code:
    """TRUE and FALSE."""
    return constant_code(BOOLEAN, bool(node.this), literal=True)


def _settled_pair(left: Code, right: Code) -> tuple[Code, Code]:
    """Literals take the type of the other operand."""
    if left.type.family in UNTYPED and right.type.family in UNTYPED:
        raise Unknown("an operator between literals without a type")
    return settle(left, right.type), settle(right, left.type)


def _checked_double(value: float, *operands: float) -> float:
    if math.isinf(value) and not any(math.isinf(operand) for operand in operands):
        raise values.out_of_range()
    return value


def _add_doubles(left: float, right: float) -> float:
    return _checked_double(left + right, left, right)


def _subtract_doubles(left: float, right: float) -> float:
    return _checked_double(left - right, left, right)


def _multiply_doubles(left: float, right: float) -> float:
    result = _checked_double(left * right, left, right)
    if result == 0 and left != 0 and right != 0:
        raise values.out_of_range()
    return result


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)
    result = _checked_double(left / right, left, right)
    if result == 0 and left != 0:
        raise values.out_of_range()
    return result


def _divide_integers(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)
    quotient = abs(left) // abs(right)
    return -quotient if (left < 0) != (right < 0) else quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _numeric_remainder(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)
    return values.plain_numeric(values.EXACT.remainder(left, right))


def _exact(operate: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Decimal, Decimal], Decimal]:
    def apply(left: Decimal, right: Decimal) -> Decimal:
        return values.plain_numeric(operate(left, right))

    return apply


def _in_range(bits: int, operate: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def apply(left: int, right: int) -> int:
        return values.ranged(operate(left, right), bits)

    return apply


_ARITHMETIC: dict[type[Any], tuple[Callable[..., int], Callable[..., Decimal], Callable[..., float] | None]]
_ARITHMETIC = {
    exp.Add: (operator.add, _exact(values.EXACT.add), _add_doubles),
    exp.Sub: (operator.sub, _exact(values.EXACT.subtract), _subtract_doubles),
    exp.Mul: (operator.mul, _exact(values.EXACT.multiply), _multiply_doubles),
    exp.Div: (_divide_integers, values.divide_numerics, _divide_doubles),
    exp.Mod: (_remainder, _numeric_remainder, None),
}


def arithmetic(compiler: Compiler, node: exp.Binary) -> Code:
    """+ - * / %: in the wider of the two types."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    for code in (left, right):
        if code.type.is_text and any(other.type.family in UNTYPED for other in (left, right)):
            raise Unknown("arithmetic of a text and a literal without a type")
        if code.type.is_text or code.type.family is Family.BOOLEAN:
            raise no_operator()
    left, right = _settled_pair(left, right)
    if left.type.is_temporal or right.type.is_temporal:
        return _date_arithmetic(node, left, right)
    if not (left.type.is_numeric and right.type.is_numeric):
        raise no_operator()
    of_integers, of_numerics, of_doubles = _ARITHMETIC[type(node)]
    family = widest((left, right))
    if family is Family.INTEGER:
        bits = max(left.type.bits, right.type.bits)
        return strict(INTEGER.but(bits=bits), _in_range(bits, of_integers), left, right, fails=True)
    one, two = as_number(left, family), as_number(right, family)
    if family is Family.DECIMAL:
        return strict(NUMERIC, of_numerics, one, two, fails=isinstance(node, exp.Div | exp.Mod))
    if of_doubles is None:
        raise no_operator()
    return strict(DOUBLE, of_doubles, one, two, fails=True)


def _date_arithmetic(node: exp.Binary, left: Code, right: Code) -> Code:
    families = (left.type.family, right.type.family)
    if isinstance(node, exp.Sub) and families == (Family.DATE, Family.DATE):
        return strict(INT4, lambda a, b: (a - b).days, left, right)
    if any(code.type.family is Family.INTEGER and code.type.bits > 32 for code in (left, right)):
        raise no_operator()
    if families == (Family.DATE, Family.INTEGER) and isinstance(node, exp.Add | exp.Sub):
        sign = 1 if isinstance(node, exp.Add) else -1
        return strict(DATE, lambda a, b: _shifted(a, sign * b), left, right, fails=True)
    raise Unknown("arithmetic on dates")


def _shifted(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError as error:
        raise Unknown("dates beyond the year 9999") from error


def minus(compiler: Compiler, node: exp.Neg) -> Code:
    """Unary minus; before a literal it is part of it."""
    inner = node.this.unnest()
    code = compiler.compile(inner)
    if code.literal and code.type.is_numeric and isinstance(inner, exp.Literal | exp.Neg):
        negated = values.EXACT.minus(Decimal(code.fn(())))
        return _number(negated, whole=code.type.family is Family.INTEGER or negated == -(1 << 63))
    if code.type.family is Family.INTEGER:
        bits = code.type.bits
        return code.then(code.type, lambda value: values.ranged(-value, bits), fails=True)
    if code.type.family is Family.DECIMAL:
        return code.then(NUMERIC, lambda value: values.plain_numeric(values.EXACT.minus(value)))
    if code.type.family is Family.DOUBLE:
        return code.then(DOUBLE, operator.neg)
    if code.type.family in UNTYPED:
        raise Unknown("minus before a literal without a type")
    raise no_operator()


def _wrapped(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bitwise(compiler: Compiler, node: exp.Binary) -> Code:
    """& | #"""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    for code in (left, right):
        if code.type.family not in UNTYPED and code.type.family is not Family.INTEGER:
            raise no_operator()
    left, right = _settled_pair(left, right)
    if left.type.family is not Family.INTEGER or right.type.family is not Family.INTEGER:
        raise no_operator()
    bits = max(left.type.bits, right.type.bits)
    return strict(INTEGER.but(bits=bits), _BITWISE[type(node)], left, right)


_BITWISE: dict[type[Any], Callable[[int, int], int]] = {
    exp.BitwiseAnd: operator.and_,
    exp.BitwiseOr: operator.or_,
    exp.BitwiseXor: operator.xor,
}


def shift(compiler: Compiler, node: exp.Binary) -> Code:
    """<< and >>; a count beyond the width is what the processor makes of it."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    if (
        left.type.family is not Family.INTEGER
        or right.type.family is not Family.INTEGER
        or right.type.bits > 32
    ):
        raise Unknown("shifts of anything but integers by integers")
    bits = left.type.bits
    to_left = isinstance(node, exp.BitwiseLeftShift)

    def apply(value: int, count: int) -> int:
        if not 0 <= count < bits:
            raise Unknown("shifts by more than the width")
        return _wrapped(value << count, bits) if to_left else value >> count

    return strict(left.type, apply, left, right)


def bit_not(compiler: Compiler, node: exp.BitwiseNot) -> Code:
    """~"""
    code = compiler.compile(node.this)
    if code.type.family is not Family.INTEGER:
        raise Unknown("~ of anything but integers")
    return code.then(code.type, operator.invert)


def comparables(compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:
    """Two operands as values that Python compares the way the server does."""
    left, right = codes
    if left.type.family in UNTYPED and right.type.family in UNTYPED:
        text = text_type(compiler)
        left, right = settle(left, text), settle(right, text)
    else:
        left, right = _settled_pair(left, right)
    if left.type.is_numeric and right.type.is_numeric:
        family = widest((left, right))
        exact = family is not Family.DOUBLE
        return [left, right] if exact else [as_number(left, family), as_number(right, family)]
    if left.type.is_text and right.type.is_text:
        return _comparable_texts(compiler, left, right, ordering=ordering)
    dates = {Family.DATE, Family.DATETIME}
    if left.type.family in dates and right.type.family in dates:
        same = left.type.family is right.type.family
        return [left, right] if same else [as_timestamp(left), as_timestamp(right)]
    if left.type.family is right.type.family is Family.BOOLEAN:
        return [left, right]
    if Family.OPAQUE in (left.type.family, right.type.family):
        raise Unknown("comparisons of types that are not modelled")
    raise no_operator()


def _comparable_texts(compiler: Compiler, left: Code, right: Code, *, ordering: bool) -> list[Code]:
    collations = {code.type.collation for code in (left, right) if not code.constant} or {left.type.collation}
    if ordering and (len(collations) > 1 or not next(iter(collations)).orders):
        raise Unknown("the order of texts in this collation")
    # VARCHAR has no comparison of its own and joins CHAR's; text does not.
    if any(code.type.padded for code in (left, right)) and all(
        code.type.padded or code.type.varying for code in (left, right)
    ):
        return [code.then(code.type, lambda text: text.rstrip(" ")) for code in (left, right)]
    return [as_text(compiler, left), as_text(compiler, right)]


def truth(code: Code) -> Callable[[tuple[Any, ...]], Any]:
    """Only booleans are conditions."""
    if code.type.family in UNTYPED:
        code = settle(code, BOOLEAN)
    if code.type.family is Family.OPAQUE:
        raise Unknown("types that are not modelled, as conditions")
    if code.type.family is not Family.BOOLEAN:
        raise EvaluationError(ErrorKind.BAD_VALUE, "argument must be type boolean")
    return code.fn


HANDLERS: dict[type[Any], Handler] = {
    exp.Literal: literal,
    exp.Boolean: boolean,
    **dict.fromkeys(_ARITHMETIC, arithmetic),
    exp.Neg: minus,
    **dict.fromkeys(_BITWISE, bitwise),
    exp.BitwiseLeftShift: shift,
    exp.BitwiseRightShift: shift,
    exp.BitwiseNot: bit_not,
}
