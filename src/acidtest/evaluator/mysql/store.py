"""Assignment to a column in strict mode."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from acidtest.evaluator.code import Code, Convert, Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import required
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.mysql import values
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.mysql.types import as_datetime, as_text, stored_type
from acidtest.evaluator.types import Family, SqlType
from acidtest.model import Column, ErrorKind


def store(compiler: Compiler, column: Column, code: Code) -> Fn:
    """The value that the column holds after the assignment."""
    target = stored_type(column)
    if code.type.is_text and code.type.loose and not target.is_text:
        raise Unknown("storing this text as a number")
    source = code if code.type.family is not Family.NULL else code.typed(target)
    convert = _converter(compiler, target, source)
    inner = convert.fn if isinstance(convert, Code) else source.then(target, convert).fn
    return inner if column.nullable else required(column, inner)


def _converter(compiler: Compiler, target: SqlType, source: Code) -> Convert | Code:
    if target.family is Family.INTEGER:
        return _to_integer(target, source.type)
    if target.family is Family.DECIMAL:
        bad = quirks_of(compiler).bad_number_text
        return _to_decimal(target, source.type, bad)
    if target.family is Family.DOUBLE:
        output = compiler.dialect.output(target)
        to_double = _to_double(source.type)
        bad = quirks_of(compiler).bad_number_text
        if source.type.is_text and bad is not None:
            to_double = _or_error(to_double, bad)
        stored = source.then(target, to_double)
        return stored if output is None else stored.then(target, output)
    if target.family is Family.TEXT:
        if source.type.family is Family.DECIMAL and not (source.column or source.literal):
            raise Unknown("storing a computed DECIMAL as text")
        if source.type.family is Family.DOUBLE and source.type.scale is not None:
            raise Unknown("storing a DOUBLE with a fixed number of decimals as text")
        inexact = source.type.family is Family.DOUBLE
        return as_text(compiler, source).then(target, _fitter(target, inexact=inexact))
    if target.family is Family.DATE:
        if source.type.family not in (Family.DATE, Family.TEXT):
            raise Unknown("storing anything but dates and texts in DATE")
        return as_datetime(source).then(target, _date_of)
    if target.family is Family.DATETIME and source.type.family in (Family.DATE, Family.DATETIME, Family.TEXT):
        return as_datetime(source).then(target, _without_micros)
    raise Unknown(f"storing {source.type.family} in {target.family}")


def _date_of(value: datetime) -> Any:
    if value.hour or value.minute or value.second or value.microsecond:
        raise Unknown("storing a time of day in DATE")
    return value.date()


def _without_micros(value: datetime) -> datetime:
    if value.microsecond:
        raise Unknown("storing fractions of a second")
    return value


def _ranged(target: SqlType, value: int) -> int:
    low, high = target.integer_bounds
    if value < low or value > high:
        raise EvaluationError(ErrorKind.OUT_OF_RANGE, "out of range value for column")
    return value


def _to_integer(target: SqlType, source: SqlType) -> Convert:
    if source.family is Family.INTEGER:
        return lambda value: _ranged(target, int(value))
    if source.family is Family.DECIMAL:
        return lambda value: _ranged(target, _whole_decimal(target, value))
    if source.family is Family.DOUBLE:
        return lambda value: _ranged(target, values.double_to_integer(value))
    if source.family is Family.TEXT:
        return lambda text: _ranged(target, int(values.round_decimal(_whole_number(text), 0)))
    raise Unknown("storing dates in integers")


def _whole_decimal(target: SqlType, value: Decimal) -> int:
    whole = int(values.round_decimal(value, 0))
    if target.unsigned and value < 0 and not whole:
        raise Unknown("storing a negative DECIMAL that is rounded to zero as unsigned")
    return whole


def _whole_number(text: str) -> Decimal:
    number, whole = values.number_prefix(text)
    if text[:1].isspace() or "e" in number.lower() or not text.isascii():
        raise Unknown("storing numbers in unusual spellings")
    if not whole:
        raise EvaluationError(_BAD_TEXT[bool(values.number_prefix(text)[0] != "0" or text[:1] == "0")])
    return Decimal(number)


# A text that starts with a number is truncated, one that does not is no number at all.
_BAD_TEXT = {True: ErrorKind.TRUNCATION, False: ErrorKind.BAD_VALUE}


def _to_decimal(target: SqlType, source: SqlType, bad: ErrorKind | None) -> Convert:
    scale = target.scale or 0
    limit = Decimal(10) ** ((target.precision or 10) - scale)
    exact = _exact_value(source)
    if source.is_text and bad is not None:
        exact = _or_error(exact, bad)

    def convert(value: Any) -> Decimal:
        result = values.round_decimal(exact(value), scale)
        if result.copy_abs() >= limit:
            raise EvaluationError(ErrorKind.OUT_OF_RANGE, "out of range value for column")
        return result or result.copy_abs()

    return convert


def _or_error(exact: Convert, kind: ErrorKind) -> Convert:
    def convert(value: Any) -> Any:
        try:
            return exact(value)
        except EvaluationError as error:
            raise EvaluationError(kind, error.detail) from error

    return convert


def _exact_value(source: SqlType) -> Callable[[Any], Decimal]:
    if source.family is Family.INTEGER:
        return lambda value: Decimal(int(value))
    if source.family is Family.DECIMAL:
        return Decimal
    if source.family is Family.DOUBLE:
        return lambda value: Decimal(repr(value))
    if source.family is Family.TEXT:
        return _whole_number
    raise Unknown("storing dates in DECIMAL")


def _to_double(source: SqlType) -> Convert:
    if source.is_numeric:
        return float
    if source.family is Family.TEXT:
        return lambda text: float(_whole_number(text))
    raise Unknown("storing dates in DOUBLE")


def _fitter(target: SqlType, *, inexact: bool) -> Callable[[str], str]:
    limit = target.length or 0

    def fit(text: str) -> str:
        if len(text) > limit:
            if inexact:
                raise Unknown("storing a DOUBLE in a text that is too short for its digits")
            if text[limit:].strip(" "):
                raise EvaluationError(ErrorKind.TRUNCATION, "data too long for column")
            text = text[:limit]
        return text.rstrip(" ") if target.padded else text

    return fit
