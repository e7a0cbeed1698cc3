"""Conversions between values as MySQL and MariaDB do them."""

import math
import re
from datetime import date, datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.model import ErrorKind

EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
"""Wide enough that no operation on DECIMALs is ever rounded by Python."""

MAX_DIGITS = 65
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
_SURE_WIDTH = 19
_MAX_PLAIN_EXPONENT = 15  # digits before or after the point up to which DOUBLEs print without an exponent


@lru_cache(maxsize=65536)
def number_prefix(text: str) -> tuple[str, bool]:
    """The number that a text starts with ("0" if none), and whether the text is that number and no more."""
    match = _NUMBER.match(text)
    if match is None:
        return "0", False
    return match[0].strip(), not text[match.end() :].strip(" \t\n\r\v\f")


def text_to_double(text: str) -> float:
    """The DOUBLE that a text stands for where it is silently cut off after the number."""
    return float(number_prefix(text)[0])


def text_to_double_checked(text: str) -> float:
    """The same in a strict write, where trailing garbage is an error."""
    number, whole = number_prefix(text)
    if not whole and text.strip(" "):
        raise EvaluationError(ErrorKind.BAD_VALUE, f"truncated incorrect DOUBLE value {text!r}")
    return float(number)


def text_not_blank_to_double(text: str) -> float:
    """The same where the errors for an empty text are not known."""
    if not text.strip(" "):
        raise Unknown("an empty text as a number, in a write")
    return text_to_double_checked(text)


def text_to_double_or_unknown(text: str) -> float:
    """A constant in a strict write: whether its garbage is noticed depends on when it is evaluated."""
    if not _WHOLE.fullmatch(text):
        raise Unknown("a constant that is no whole number as a number, in a write")
    return float(text)


def plain_text_to_double(text: str) -> float:
    """A computed text in a strict write, where garbage after the number may or may not be noticed."""
    number, whole = number_prefix(text)
    if not whole:
        raise Unknown("a computed text that is no number, in a write")
    return float(number)


def text_to_integer(text: str, *, unsigned: bool) -> int:
    """CAST('...' AS SIGNED or UNSIGNED): the leading whole number."""
    match = _WHOLE.match(text)
    value = int(match[1]) if match else 0
    if unsigned:
        if value < -(1 << 63) or value >= 1 << 64:
            raise Unknown("a text beyond 64 bits as an integer")
        return value & 0xFFFF_FFFF_FFFF_FFFF
    if not -(1 << 63) <= value < 1 << 63:
        raise Unknown("a text beyond 64 bits as an integer")
    return value


def text_to_decimal(text: str) -> Decimal:
    """The DECIMAL that a text starts with."""
    return Decimal(number_prefix(text)[0])


def round_decimal(value: Decimal, scale: int) -> Decimal:
    """Half away from zero, to exactly that many decimals."""
    return EXACT.quantize(value, _unit(scale))


def cut_decimal(value: Decimal, scale: int) -> Decimal:
    """Toward zero, to exactly that many decimals."""
    return value.quantize(_unit(scale), ROUND_DOWN, EXACT)


@lru_cache(maxsize=128)
def _unit(scale: int) -> Decimal:
    return Decimal(1).scaleb(-scale)


def checked_decimal(value: Decimal) -> Decimal:
    """Refuse to guess beyond 65 digits; a zero has no sign."""
    _check_digits(value)
    return value or value.copy_abs()


def _check_digits(value: Decimal) -> None:
    digits = value.adjusted() + 1
    if digits > 30 and digits - int(value.as_tuple().exponent) > MAX_DIGITS:
        raise Unknown("DECIMALs of more than 65 digits")


def divide_decimals(left: Decimal, right: Decimal, increment: int) -> Decimal:
    """A quotient with the digits that the server's decimal library gives: whole words of nine.

    strings/decimal.c of both servers: fractions are counted in words of nine digits, the quotient is cut.
    """
    frac1, frac2 = _fraction(left), _fraction(right)
    up1, up2 = -(-frac1 // 9) * 9, -(-frac2 // 9) * 9
    increment = max(increment - (up1 - frac1) - (up2 - frac2), 0)
    digits = -(-(up1 + up2 + increment) // 9) * 9
    quotient = EXACT.divide(left, right).quantize(_unit(digits), ROUND_DOWN, EXACT)
    _check_digits(quotient)
    return quotient if left else quotient.copy_abs()


def _fraction(value: Decimal) -> int:
    return max(-int(value.as_tuple().exponent), 0)


def double_to_text(value: float) -> str:
    """A DOUBLE as the server prints it: the shortest digits, an exponent beyond 15 places."""
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    return _nonzero_to_text(value)


@lru_cache(maxsize=65536)
def _nonzero_to_text(value: float) -> str:
    sign, digit_tuple, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)
    prefix = "-" if sign else ""
    if point >= 1 - _MAX_PLAIN_EXPONENT and (point <= _MAX_PLAIN_EXPONENT or len(digits) > point):
        if point <= 0:
            return f"{prefix}0.{'0' * -point}{digits}"
        if point >= len(digits):
            return prefix + digits + "0" * (point - len(digits))
        return f"{prefix}{digits[:point]}.{digits[point:]}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{prefix}{mantissa}e{point - 1}"


def integer_to_text(value: int) -> str:
    """An INTEGER; the outcome of a condition prints as 0 or 1."""
    return str(int(value))


def short_double_to_text(value: float) -> str:
    """The same where the width of the text is limited by the length of the expression."""
    text = double_to_text(value)
    if len(text) > _SURE_WIDTH:
        raise Unknown("long DOUBLEs as text")
    return text


def fixed_double(value: float, scale: int) -> str:
    """A DOUBLE with so many decimals: its shortest digits where they are enough, else rounded."""
    shortest = Decimal(repr(value))
    if -int(shortest.as_tuple().exponent) <= scale:
        text = format(EXACT.quantize(shortest, _unit(scale)), "f")
    else:
        text = f"{value:.{scale}f}"
    return text


def own_decimals_to_text(value: Decimal) -> str:
    """A DECIMAL with the decimals that it happens to have."""
    return format(value, "f")


def temporal_to_text(value: Any) -> str:
    """Dates and times in the only format that the servers print."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        raise Unknown("TIME as text")
    raise Unknown(f"{type(value).__name__} as text")


_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d?):(\d\d?)(\.\d{1,6})?)?", re.ASCII)


@lru_cache(maxsize=4096)
def text_to_datetime(text: str) -> datetime:
    """A text in the plain ISO format; the many laxer formats are not modelled."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise Unknown("a text that is no plain date, as a date")
    parts = [int(part) for part in match.groups()[:6] if part is not None]
    micros = int((match[7] or ".0")[1:].ljust(6, "0"))
    try:
        year, month, day, *clock = parts
        hour, minute, second = clock or (0, 0, 0)
        return datetime(year, month, day, hour, minute, second, micros)
    except ValueError as error:
        raise Unknown("a date that does not exist") from error


def double_to_integer(value: float) -> int:
    """Rounded half to even, as the C library's rint does."""
    if not -9.2e18 < value < 9.2e18:
        raise Unknown("a DOUBLE near or beyond 64 bits as an integer")
    return round(value)
