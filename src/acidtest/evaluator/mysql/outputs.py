"""What becomes of values at the edges: sent to the client, grouped, sought, taken as conditions."""

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

from acidtest.evaluator.code import Code, Convert, Fn
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql import values
from acidtest.evaluator.types import Family, SqlType


def output_with_sign(scale: int) -> Convert:
    """MariaDB takes the sign from a zero only if it rounds decimals away."""

    def shown(value: Decimal) -> Decimal:
        rounded = values.round_decimal(value, scale)
        rounds = -int(value.as_tuple().exponent) > scale
        return values.checked_decimal(rounded) if rounds else rounded

    return shown


def fixed(scale: int, keeps_sign: bool) -> Convert:
    """A DOUBLE that is printed with so many decimals."""

    def shown(value: float) -> float:
        printed = float(values.fixed_double(value, scale))
        return printed if keeps_sign or value else printed + 0.0

    return shown


def unsigned_zero(value: float) -> float:
    return value + 0.0


def fitting(target: SqlType) -> Convert:
    def check(value: Any) -> Any:
        low, high = target.integer_bounds if target.family is Family.INTEGER else (0, 0)
        if target.family is Family.INTEGER and not (low <= value <= high and value == int(value)):
            raise Unknown("IN a subquery of a type that the value does not fit")
        if target.family is Family.DECIMAL:
            limit = 10 ** ((target.precision or 65) - (target.scale or 0))
            if abs(value) >= limit or values.round_decimal(Decimal(value), target.scale or 0) != value:
                raise Unknown("IN a subquery of a type that the value does not fit")
        return value

    return check


def zero_without_sign(value: float) -> float:
    if value == 0 and math.copysign(1, value) < 0:
        raise Unknown("whether a negative zero is the same as zero")
    return value


def same(value: Any) -> Any:
    return value


def not_zero(fn: Fn) -> Fn:
    def truth(row: tuple[Any, ...]) -> bool | None:
        value = fn(row)
        return None if value is None else value != 0

    return truth


def surely_not_zero(fn: Fn) -> Fn:
    """A number as a condition where it may be rounded first."""

    def truth(row: tuple[Any, ...]) -> bool | None:
        value = fn(row)
        if value is not None and value != 0 and abs(value) <= 0.5:
            raise Unknown("a number close to zero as a condition")
        return None if value is None else value != 0

    return truth


def never_null(code: Code) -> Code:
    """A value of a simple CASE; what follows a NULL is lost on some servers."""
    inner = code.fn

    def checked(row: tuple[Any, ...]) -> Any:
        value = inner(row)
        if value is None:
            raise Unknown("a simple CASE with a value that is NULL")
        return value

    return replace(code, fn=checked)
