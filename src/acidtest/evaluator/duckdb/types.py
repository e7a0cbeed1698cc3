"""Types of columns and literals, and how values of one become values of another.

Near to PostgreSQL, but decimals have a fixed scale, and more converts implicitly. What converts how is
modelled only where nothing can be lost; the rest is `Unknown`, also where the binder would refuse it.
https://duckdb.org/docs/stable/sql/data_types/typecasting
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from acidtest.evaluator.code import Code, Convert
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.postgres.values import EXACT, text_to_date
from acidtest.evaluator.types import BOOLEAN, DATE, DOUBLE, INTEGER, Family, SqlType, decimal
from acidtest.model import ErrorKind

INT4, INT8 = (INTEGER.but(bits=bits) for bits in (32, 64))
TEXT = SqlType(Family.TEXT)
LITERAL = SqlType(Family.LITERAL)
UNTYPED = frozenset({Family.LITERAL, Family.NULL})

DIGITS_MAX = 15
"""Decimals beyond it may change their physical type, and doubles their value."""

_PLAIN = {
    "INTEGER": INT4,
    "BIGINT": INT8,
    "DOUBLE": DOUBLE,
    "VARCHAR": TEXT,
    "DATE": DATE,
    "BOOLEAN": BOOLEAN,
    # what the catalogs of other DBMSs call them, and the generator with them
    "DOUBLE PRECISION": DOUBLE,
}
_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\((\d+),\s*(\d+)\)", re.ASCII)
_VARYING = re.compile(r"(?:CHARACTER VARYING|VARCHAR)(?:\(\d+\))?", re.ASCII)  # the length means nothing
_RANK = {Family.INTEGER: 0, Family.DECIMAL: 1, Family.DOUBLE: 2}


def stored_type(spelling: str) -> SqlType:
    """The type of a column as the catalog spells it."""
    upper = spelling.strip().upper()
    if upper in _PLAIN:
        return _PLAIN[upper]
    if _VARYING.fullmatch(upper):
        return TEXT
    found = _DECIMAL.fullmatch(upper)
    if found is None or int(found[1]) > DIGITS_MAX:
        raise Unknown(f"columns of type {spelling}")
    return decimal(int(found[2]), precision=int(found[1]))


def out_of_range() -> EvaluationError:
    """A number that its type does not hold."""
    return EvaluationError(ErrorKind.OUT_OF_RANGE)


def ranged(value: int, bits: int) -> int:
    """An integer that fits."""
    if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        return value
    raise out_of_range()


def small(value: Decimal) -> Decimal:
    """A decimal that is surely computed without overflow."""
    if len(value.as_tuple().digits) > DIGITS_MAX:
        raise Unknown("a decimal with many digits")
    return value or value.copy_abs()


def rescaled(scale: int) -> Convert:
    """Numbers as decimals of that many places, of which none gets lost."""
    unit = Decimal(1).scaleb(-scale)
    return lambda value: small(EXACT.quantize(Decimal(value), unit))


def as_number(code: Code, target: SqlType) -> Code:
    """A number in a wider type."""
    if code.type.family is Family.NULL:
        return code.typed(target)
    if target.family is Family.DOUBLE:
        return code if code.type.family is Family.DOUBLE else code.then(DOUBLE, float)
    if target.family is Family.DECIMAL:
        return code.then(target, rescaled(target.scale or 0))
    return code.typed(target)


def wider(types: Sequence[SqlType]) -> SqlType:
    """The numeric type that holds all of these."""
    family = max((type_.family for type_ in types), key=lambda item: _RANK[item])
    if family is Family.INTEGER:
        return INTEGER.but(bits=max(type_.bits for type_ in types))
    if family is Family.DECIMAL:
        return decimal(max(type_.scale or 0 for type_ in types))
    return DOUBLE


def settle(code: Code, target: SqlType) -> Code:
    """A text literal or NULL as a value of the type beside it."""
    if code.type.family not in UNTYPED:
        return code
    value = code.fn(())
    if value is None or target.is_text:
        return constant_code(target, value)
    if target.family is not Family.DATE:
        raise Unknown(f"a text literal as {target.family}")
    try:
        return constant_code(target, text_to_date(value))
    except EvaluationError as error:
        raise Unknown("a text that is no date") from error


def common(codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
    """The type of CASE, COALESCE, GREATEST and UNION over these codes, and the codes in it."""
    known = [code.type for code in codes if code.type.family not in UNTYPED]
    if not known:
        literals = any(code.type.family is Family.LITERAL for code in codes)
        target = TEXT if literals else INT4
        return target, [settle(code, target) for code in codes]
    if all(type_.is_numeric for type_ in known):
        target = wider(known)
        if any(code.type.family is Family.LITERAL for code in codes):
            raise Unknown("a text literal among numbers")
        return target, [as_number(code, target) for code in codes]
    families = {type_.family for type_ in known}
    if len(families) > 1 or families <= {Family.OPAQUE}:
        raise Unknown("different types in one place")
    if families == {Family.DATE} and any(code.type.family is Family.LITERAL for code in codes):
        raise Unknown("a text literal among dates")
    return known[0], [settle(code, known[0]) for code in codes]


def comparable(left: Code, right: Code) -> list[Code]:
    """Operands as values that Python compares the way the server does."""
    if left.type.is_numeric and right.type.is_numeric:
        target = wider((left.type, right.type))
        exact = target.family is not Family.DOUBLE
        return [left, right] if exact else [as_number(left, target), as_number(right, target)]
    pair = (left, right)
    known = [code.type for code in pair if code.type.family not in UNTYPED]
    if not known:
        return [settle(code, TEXT) for code in pair]
    if len({type_.family for type_ in known}) > 1 or known[0].family is Family.OPAQUE:
        raise Unknown("comparisons of different types")
    return [settle(code, known[0]) for code in pair]


def assigned(code: Code, target: SqlType) -> Code:
    """A value as a column stores it."""
    if code.type.family in UNTYPED:
        return settle(code, target)
    own = code.type.family
    if target.family is Family.DOUBLE and code.type.is_numeric:
        return as_number(code, target).then(target, _without_signed_zero)
    if target.family is own is Family.INTEGER:
        return code.then(target, lambda value: ranged(value, target.bits), fails=target.bits < code.type.bits)
    if target.family is Family.DECIMAL and own in (Family.INTEGER, Family.DECIMAL):
        return code.then(target, _fitted(target), fails=True)
    if target.family is own and own in (Family.TEXT, Family.DATE, Family.BOOLEAN):
        return code
    raise Unknown(f"storing {own} in {target.family}")


def _without_signed_zero(value: float) -> float:
    if value == 0 and math.copysign(1, value) < 0:
        raise Unknown("a negative zero, which may not replace a zero")
    return value


def _fitted(target: SqlType) -> Convert:
    scale = target.scale or 0
    limit = Decimal(10) ** ((target.precision or DIGITS_MAX) - scale)

    def fit(value: Any) -> Decimal:
        exact = Decimal(value)
        if exact.copy_abs() >= limit:
            raise out_of_range()
        rounded = EXACT.quantize(exact, Decimal(1).scaleb(-scale))
        if rounded != exact:
            raise Unknown("a decimal that is rounded when it is stored")
        return rounded or rounded.copy_abs()

    return fit
