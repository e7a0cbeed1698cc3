"""Arithmetic and bit operations."""

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.code import unsure_strict as strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.mysql import values
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.mysql.types import as_decimal, as_double, common_scale, text_type
from acidtest.evaluator.types import DOUBLE, INTEGER, LOGICAL, UNSIGNED, Family, SqlType, decimal
from acidtest.model import ErrorKind

_MASK = (1 << 64) - 1
_LOWEST = -(1 << 63)
_MAX_SCALE = 30
_NOT_FIXED = 31  # as many decimals mean: all of them
_INEXACT = {Family.DOUBLE, Family.TEXT}


def literal(compiler: Compiler, node: exp.Literal) -> Code:
    """A number or a text as it stands."""
    text = str(node.this)
    if node.is_string:
        return constant_code(text_type(compiler), text, literal=True)
    if "e" in text.lower():
        return constant_code(DOUBLE, float(text), literal=True)
    if "." in text:
        value = Decimal(text)
        return constant_code(decimal(len(text.split(".")[1])), value, literal=True)
    return constant_code(integer_type(compiler, int(text)), _integer(int(text)), literal=True)


def integer_type(compiler: Compiler, value: int) -> SqlType:
    """The type of an integer literal."""
    if value >= 1 << 64:
        return decimal(0)
    if value >= 1 << 63:
        return UNSIGNED
    narrow = quirks_of(compiler).narrow_literals and abs(value) < 10**9
    return INTEGER.but(bits=32 if narrow else 64)


def _integer(value: int) -> int | Decimal:
    return Decimal(value) if value >= 1 << 64 else value


def boolean(_compiler: Compiler, node: exp.Boolean) -> Code:
    """TRUE and FALSE; conditions are booleans in here, and 1 and 0 for the client."""
    return constant_code(LOGICAL.but(bits=32), bool(node.this), literal=True)


def checked(type_: SqlType, operate: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """Integer arithmetic that refuses results beyond 64 bits."""
    low, high = type_.integer_bounds

    def apply(left: int, right: int) -> int:
        result = operate(left, right)
        if _LOWEST in (right, result):
            # Both servers have operations that overflow here, or do not, against their own rule.
            raise Unknown("arithmetic at the lowest BIGINT")
        if result < low or result > high:
            raise EvaluationError(ErrorKind.OUT_OF_RANGE, "BIGINT value is out of range")
        return result

    return apply


def _operands(compiler: Compiler, node: exp.Binary) -> tuple[Code, Code, set[Family]]:
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    families = {left.type.family, right.type.family}
    if Family.NULL in families:
        families = {Family.DOUBLE}  # arithmetic with a bare NULL is inexact
    if families & {Family.DATE, Family.DATETIME, Family.TIME}:
        raise Unknown("arithmetic on dates")
    return left, right, families


def _double_type(left: Code, right: Code, more: int = 0) -> SqlType:
    scale = common_scale((left.type, right.type))
    return DOUBLE.but(scale=None if scale is None or scale + more >= _NOT_FIXED else scale + more)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise EvaluationError(ErrorKind.OUT_OF_RANGE, "DOUBLE value is out of range")
    return value


def _double_operation(operate: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def apply(left: float, right: float) -> float:
        return _finite(operate(left, right))

    return apply


def _decimal_operation(operate: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Any, Any], Decimal]:
    def apply(left: Decimal, right: Decimal) -> Decimal:
        return values.checked_decimal(operate(left, right))

    return apply


def _linear(
    operate: Callable[[Any, Any], Any],
    exact: Callable[[Decimal, Decimal], Decimal],
    scale_of: Callable[[int, int], int],
) -> Callable[[Compiler, exp.Binary], Code]:
    def handler(compiler: Compiler, node: exp.Binary) -> Code:
        left, right, families = _operands(compiler, node)
        if families & _INEXACT:
            one, two = as_double(compiler, left), as_double(compiler, right)
            type_ = _double_type(one, two)
            return strict(type_, _double_operation(operate), one, two, fails=True)
        if Family.DECIMAL in families:
            scale = scale_of(left.type.scale or 0, right.type.scale or 0)
            if scale > _MAX_SCALE:
                raise Unknown("DECIMALs of more than 30 decimals")
            type_ = decimal(scale, loose=left.type.loose or right.type.loose)
            return strict(type_, _decimal_operation(exact), as_decimal(left), as_decimal(right))
        type_ = INTEGER.but(unsigned=left.type.unsigned or right.type.unsigned)
        return strict(type_, checked(type_, operate), left, right, fails=True)

    return handler


def _add_decimals(left: Decimal, right: Decimal) -> Decimal:
    """Numbers that cancel out leave a zero without decimals, which shows in the digits of a quotient."""
    total = values.EXACT.add(left, right)
    return total if total or (left < 0) == (right < 0) else Decimal(0)


def _subtract_decimals(left: Decimal, right: Decimal) -> Decimal:
    rest = values.EXACT.subtract(left, right)
    return rest or Decimal(0)


addition = _linear(operator.add, _add_decimals, max)
subtraction = _linear(operator.sub, _subtract_decimals, max)
multiplication = _linear(operator.mul, values.EXACT.multiply, operator.add)


def _by_zero(compiler: Compiler) -> None:
    """NULL in a query; an error in a strict write (ERROR_FOR_DIVISION_BY_ZERO)."""
    if compiler.writes:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)


def division(compiler: Compiler, node: exp.Div) -> Code:
    """`/`: exact operands give a DECIMAL with four more decimals than the dividend."""
    left, right, families = _operands(compiler, node)
    if families & _INEXACT:

        def divide_doubles(a: float, b: float) -> float | None:
            if b == 0:
                _by_zero(compiler)
                return None
            return _finite(a / b)

        one, two = as_double(compiler, left), as_double(compiler, right)
        type_ = _double_type(one, two, compiler.dialect.settings.division_digits)
        return strict(type_, divide_doubles, one, two, fails=True)
    increment = compiler.dialect.settings.division_digits
    scale = (left.type.scale or 0) + increment
    if scale > _MAX_SCALE:
        raise Unknown("DECIMALs of more than 30 decimals")
    keeps = quirks_of(compiler).division_keeps_digits

    def divide(a: Decimal, b: Decimal) -> Decimal | None:
        if not b:
            _by_zero(compiler)
            return None
        quotient = values.divide_decimals(a, b, increment)
        if keeps and not quotient and quotient.is_signed():
            raise Unknown("the sign of a quotient that is cut to zero")
        return quotient if keeps else values.checked_decimal(values.round_decimal(quotient, scale))

    return strict(
        decimal(scale, loose=keeps), divide, as_decimal(left), as_decimal(right), fails=compiler.writes
    )


def integer_division(compiler: Compiler, node: exp.IntDiv) -> Code:
    """DIV: the quotient cut to an integer."""
    left, right, families = _operands(compiler, node)
    if Family.NULL in (left.type.family, right.type.family):
        return constant_code(INTEGER.but(unsigned=left.type.unsigned or right.type.unsigned), None)
    if families & _INEXACT:
        raise Unknown("DIV of inexact numbers")
    plain = [code for code in (left, right) if code.type.family is not Family.DECIMAL or code.column]
    if len(plain) < 2:
        raise Unknown("DIV of DECIMALs that may be unsigned")
    type_ = INTEGER.but(unsigned=left.type.unsigned or right.type.unsigned)
    low, high = type_.integer_bounds

    def divide(a: Any, b: Any) -> int | None:
        if not b:
            _by_zero(compiler)
            return None
        quotient = int(values.EXACT.divide_int(a.copy_abs(), b.copy_abs())) if decimals else abs(a) // abs(b)
        negative = (a < 0) != (b < 0)
        if negative and not quotient and type_.unsigned:
            raise Unknown("a negative DIV that is cut to an unsigned zero")
        quotient = -quotient if negative else quotient
        if quotient == _LOWEST:
            raise Unknown("arithmetic at the lowest BIGINT")
        if quotient < low or quotient > high:
            raise EvaluationError(ErrorKind.OUT_OF_RANGE, "BIGINT value is out of range")
        return quotient

    decimals = Family.DECIMAL in families
    if decimals:
        left, right = as_decimal(left), as_decimal(right)
    return strict(type_, divide, left, right, fails=True)


def modulo(compiler: Compiler, node: exp.Mod) -> Code:
    """% and MOD: the remainder has the sign of the dividend."""
    left, right, families = _operands(compiler, node)
    if families & _INEXACT:

        def of_doubles(a: float, b: float) -> float | None:
            if b == 0:
                _by_zero(compiler)
                return None
            return math.fmod(a, b)

        one, two = as_double(compiler, left), as_double(compiler, right)
        return strict(_double_type(one, two), of_doubles, one, two, fails=True)
    if Family.DECIMAL in families:
        keeps_sign = quirks_of(compiler).division_keeps_digits

        def of_decimals(a: Decimal, b: Decimal) -> Decimal | None:
            if not b:
                _by_zero(compiler)
                return None
            rest = values.EXACT.remainder(a, b)
            if keeps_sign and not rest and a < 0:
                raise Unknown("the sign of a remainder that is zero")
            return values.checked_decimal(rest)

        type_ = decimal(max(left.type.scale or 0, right.type.scale or 0))
        return strict(
            type_.but(loose=left.type.loose or right.type.loose),
            of_decimals,
            as_decimal(left),
            as_decimal(right),
            fails=compiler.writes,
        )

    def of_integers(a: int, b: int) -> int | None:
        if not b:
            _by_zero(compiler)
            return None
        remainder = abs(a) % abs(b)
        return -remainder if a < 0 else remainder

    type_ = INTEGER.but(unsigned=left.type.unsigned)
    return strict(type_, of_integers, left, right, fails=compiler.writes)


def minus(compiler: Compiler, node: exp.Neg) -> Code:
    """Unary minus; a constant that does not fit becomes a DECIMAL."""
    code = compiler.compile(node.this)
    family = code.type.family
    if family in (Family.DOUBLE, Family.TEXT, Family.NULL):
        number = as_double(compiler, code)
        return number.then(number.type.but(ragged=False), operator.neg)
    if family is Family.DECIMAL:
        type_ = code.type.but(ragged=False)
        return code.then(type_, lambda value: values.checked_decimal(values.EXACT.minus(value)))
    if family is not Family.INTEGER:
        raise Unknown("arithmetic on dates")
    literal_node = isinstance(node.this, exp.Literal)
    if code.constant and not code.fails:
        return _negative_constant(compiler, code, literal=literal_node)

    def negated(value: int) -> int:
        if value > 1 << 63 or (value == 1 << 63 and not code.type.unsigned) or value == -(1 << 63):
            raise EvaluationError(ErrorKind.OUT_OF_RANGE, "BIGINT value is out of range")
        return -value

    return code.then(INTEGER, negated, fails=True)


def _negative_constant(compiler: Compiler, code: Code, *, literal: bool) -> Code:
    value = code.fn(())
    if value is None:
        return code.typed(INTEGER)
    type_ = integer_type(compiler, abs(int(value)))
    negated = -int(value)
    if literal and negated >= -(1 << 63):
        return constant_code(type_.but(family=Family.INTEGER, unsigned=False), negated, literal=True)
    if 0 <= value < 1 << 63:
        return constant_code(code.type.but(unsigned=False, logical=False), negated)
    if code.literal and quirks_of(compiler).folds_signs:
        return constant_code(type_, negated, literal=True)
    return constant_code(decimal(0), Decimal(negated))


def _bits_of(code: Code) -> Code:
    """An operand of a bit operation: 64 bits without a sign."""
    family = code.type.family
    if family is Family.INTEGER:
        return code.then(UNSIGNED, lambda value: value & _MASK)
    if family is Family.DECIMAL:
        return code.then(UNSIGNED, _decimal_bits)
    raise Unknown("bit operations on inexact numbers and texts")


def _decimal_bits(value: Decimal) -> int:
    whole = int(values.round_decimal(value, 0))
    if not -(1 << 63) <= whole < 1 << 63:
        raise Unknown("bit operations on DECIMALs beyond 64 bits")
    return whole & _MASK


def _bitwise(operate: Callable[[int, int], int]) -> Callable[[Compiler, exp.Binary], Code]:
    def handler(compiler: Compiler, node: exp.Binary) -> Code:
        left, right = _bits_of(compiler.compile(node.this)), _bits_of(compiler.compile(node.expression))
        return strict(UNSIGNED, operate, left, right)

    return handler


bit_and = _bitwise(operator.and_)
bit_or = _bitwise(operator.or_)
bit_xor = _bitwise(operator.xor)
shift_left = _bitwise(lambda value, count: (value << count) & _MASK if count < 64 else 0)
shift_right = _bitwise(lambda value, count: value >> count if count < 64 else 0)


def bit_not(compiler: Compiler, node: exp.BitwiseNot) -> Code:
    """~"""
    return _bits_of(compiler.compile(node.this)).then(UNSIGNED, lambda value: value ^ _MASK)


def bit_count(compiler: Compiler, node: exp.BitwiseCount) -> Code:
    """BIT_COUNT: how many bits are set."""
    return _bits_of(compiler.compile(node.this)).then(INTEGER, int.bit_count)


HANDLERS: dict[type[Any], Handler] = {
    exp.Literal: literal,
    exp.Boolean: boolean,
    exp.Add: addition,
    exp.Sub: subtraction,
    exp.Mul: multiplication,
    exp.Div: division,
    exp.IntDiv: integer_division,
    exp.Mod: modulo,
    exp.Neg: minus,
    exp.BitwiseAnd: bit_and,
    exp.BitwiseOr: bit_or,
    exp.BitwiseXor: bit_xor,
    exp.BitwiseLeftShift: shift_left,
    exp.BitwiseRightShift: shift_right,
    exp.BitwiseNot: bit_not,
    exp.BitwiseCount: bit_count,
}
