"""Conversions between values as PostgreSQL does them."""

import math
import re
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.model import ErrorKind

EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)
"""Wide enough that no operation on numerics is ever rounded by Python."""

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_UNUSUAL = re.compile(
    r"[+-]?(0[xXoObB][\da-fA-F_]+|\d[\d_]*(\.[\d_]*)?([eE].*)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_NUMERIC = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SPACES = " \t\n\r\v\f"
_BASE_DIGITS = 4  # decimal digits in one digit of a numeric
_SIGNIFICANT_DIGITS = 16  # that a quotient has at least


def out_of_range() -> EvaluationError:
    """Error class 22003."""
    return EvaluationError(ErrorKind.OUT_OF_RANGE)


def bad_text(what: str) -> EvaluationError:
    """Error 22P02: a text that is no value of the type."""
    return EvaluationError(ErrorKind.BAD_VALUE, f"invalid input syntax for {what}")


def text_to_integer(text: str, bits: int) -> int:
    """A text as an integer; hexadecimal and underscores (PostgreSQL 16) are not modelled."""
    plain = text.strip(_SPACES)
    if not _INTEGER.fullmatch(plain):
        if _UNUSUAL.fullmatch(plain) and ("_" in plain or plain.lower().lstrip("+-")[1:2] in ("x", "o", "b")):
            raise Unknown("integers in unusual spellings")
        raise bad_text("type integer")
    return ranged(int(plain), bits)


def ranged(value: int, bits: int) -> int:
    """An integer that fits, or error 22003."""
    if -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        return value
    raise out_of_range()


def text_to_numeric(text: str) -> Decimal:
    """A text as a numeric that keeps its decimals."""
    plain = text.strip(_SPACES)
    if not _NUMERIC.fullmatch(plain):
        if _UNUSUAL.fullmatch(plain):
            raise Unknown("numerics in unusual spellings")
        raise bad_text("type numeric")
    return plain_numeric(Decimal(plain))


def plain_numeric(value: Decimal) -> Decimal:
    """A numeric has no negative scale and no negative zero."""
    exponent = int(value.as_tuple().exponent)
    if exponent > 0:
        value = EXACT.quantize(value, Decimal(1))
    return value or value.copy_abs()


def text_to_double(text: str) -> float:
    """A text as a double precision."""
    plain = text.strip(_SPACES)
    if not _NUMERIC.fullmatch(plain):
        if _UNUSUAL.fullmatch(plain):
            raise Unknown("doubles in unusual spellings")
        raise bad_text("type double precision")
    value = float(plain)
    if math.isinf(value) or (
        value == 0 and any(digit in "123456789" for digit in re.split("[eE]", plain)[0])
    ):
        raise out_of_range()
    return value


_BOOLEANS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def text_to_boolean(text: str) -> bool:
    """A text as a boolean: any unique prefix of a word."""
    plain = text.strip(_SPACES).lower()
    found = {value for word, value in _BOOLEANS.items() if plain and word.startswith(plain)}
    if len(found) != 1 or plain == "o":
        raise bad_text("type boolean")
    return found.pop()


_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d{1,6})?)?", re.ASCII)


@lru_cache(maxsize=4096)
def text_to_date(text: str) -> date:
    """A text in ISO format; the many other formats are not modelled."""
    if not _DATE.fullmatch(text):
        raise Unknown("dates in unusual spellings")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise out_of_range() from error


@lru_cache(maxsize=4096)
def text_to_timestamp(text: str) -> datetime:
    """A text in ISO format as a timestamp."""
    if not _TIMESTAMP.fullmatch(text):
        raise Unknown("timestamps in unusual spellings")
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise out_of_range() from error


def double_to_text(value: float) -> str:
    """The shortest digits that tell the value, with an exponent outside 1e-5 to 1e15."""
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digit_tuple, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)
    prefix = "-" if sign else ""
    if -4 < point <= 15:
        if point <= 0:
            return f"{prefix}0.{'0' * -point}{digits}"
        if point >= len(digits):
            return prefix + digits + "0" * (point - len(digits))
        return f"{prefix}{digits[:point]}.{digits[point:]}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{prefix}{mantissa}e{point - 1:+03d}"


def numeric_to_text(value: Decimal) -> str:
    """All decimals of a numeric."""
    return format(value, "f")


def double_to_numeric(value: float) -> Decimal:
    """Fifteen significant digits."""
    return plain_numeric(Decimal(f"{value:.15g}"))


def scale_of(value: Decimal) -> int:
    """How many decimals a numeric shows."""
    return max(-int(value.as_tuple().exponent), 0)


def rescale(value: Decimal, scale: int) -> Decimal:
    """Half away from zero; a negative scale rounds before the point."""
    rounded = EXACT.quantize(value, Decimal(1).scaleb(-scale))
    return plain_numeric(rounded)


def _first_digit(value: Decimal) -> tuple[int, int]:
    """Weight and value of the first digit in base 10000."""
    if not value:
        return 0, 0
    weight = value.adjusted() // _BASE_DIGITS
    return weight, int(EXACT.scaleb(value.copy_abs(), -weight * _BASE_DIGITS))


def divide_numerics(left: Decimal, right: Decimal) -> Decimal:
    """A quotient with at least 16 significant digits (select_div_scale in numeric.c)."""
    if not right:
        raise EvaluationError(ErrorKind.DIVISION_BY_ZERO)
    weight1, digit1 = _first_digit(left)
    weight2, digit2 = _first_digit(right)
    weight = weight1 - weight2 - (digit1 <= digit2)
    scale = max(_SIGNIFICANT_DIGITS - weight * _BASE_DIGITS, scale_of(left), scale_of(right), 0)
    return rescale(EXACT.divide(left, right), min(scale, 1000))


def to_text(value: Any) -> str:
    """A value as CAST to text gives it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return numeric_to_text(value)
    if isinstance(value, float):
        return double_to_text(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def double_to_integer(value: float, bits: int) -> int:
    """Rounded half to even."""
    if not math.isfinite(value):
        raise out_of_range()
    return ranged(round(value), bits)


def numeric_to_integer(value: Decimal, bits: int) -> int:
    """Rounded half away from zero."""
    return ranged(int(rescale(value, 0)), bits)
