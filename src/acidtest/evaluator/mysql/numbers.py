"""Functions of numbers, choices among values, and casts."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code
from acidtest.evaluator.code import unsure_strict as strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.mysql import values
from acidtest.evaluator.mysql.compare import comparables
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.mysql.types import (
    as_datetime,
    as_decimal,
    as_double,
    as_text,
    common_type,
    text_type,
)
from acidtest.evaluator.types import (
    DATE,
    DATETIME,
    DOUBLE,
    INTEGER,
    UNSIGNED,
    Family,
    SqlType,
    Strength,
    decimal,
)
from acidtest.model import ErrorKind

DType = exp.DataType.Type
_INEXACT = (Family.DOUBLE, Family.TEXT)


def _number(compiler: Compiler, node: exp.Expression) -> Code:
    code = compiler.compile(node)
    if code.type.is_temporal:
        raise Unknown("functions of numbers over dates")
    return as_double(compiler, code) if code.type.family in (Family.TEXT, Family.NULL) else code


def absolute(compiler: Compiler, node: exp.Abs) -> Code:
    """ABS."""
    code = _number(compiler, node.this)
    if code.type.family is not Family.INTEGER:
        of = Decimal.copy_abs if code.type.family is Family.DECIMAL else abs
        return code.then(code.type.but(ragged=False), of)
    if code.type.unsigned:
        return code.typed(UNSIGNED)

    def of_integer(value: int) -> int:
        if value == -(1 << 63):
            raise EvaluationError(ErrorKind.OUT_OF_RANGE, "BIGINT value is out of range")
        return abs(value)

    return code.then(INTEGER, of_integer, fails=True)


def sign(compiler: Compiler, node: exp.Sign) -> Code:
    """SIGN."""
    return _number(compiler, node.this).then(INTEGER, lambda value: (value > 0) - (value < 0))


def _to_whole(rounding: str, of_double: Callable[[float], float]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        if node.args.get("decimals") is not None or node.args.get("to") is not None:
            raise Unknown("FLOOR and CEIL with a scale")
        code = _number(compiler, node.this)
        if code.type.family is Family.DOUBLE:
            type_ = _rounded_type(compiler, 0)
            return code.then(type_, lambda value: math.copysign(float(of_double(value)), value))
        if code.type.family is Family.INTEGER and not quirks_of(compiler).is_old:
            return code

        def whole(value: Decimal) -> int:
            result = int(value.to_integral_value(rounding))
            if not -(1 << 63) <= result < 1 << 63:
                raise Unknown("FLOOR and CEIL beyond 64 bits")
            return result

        # The type of the answer depends on the number of digits that the argument may have.
        precision = code.type.precision
        if precision is None or precision - (code.type.scale or 0) > 17:
            raise Unknown("FLOOR and CEIL of DECIMALs of unknown length")
        return code.then(INTEGER, whole)

    return handler


floor = _to_whole(ROUND_FLOOR, math.floor)
ceiling = _to_whole(ROUND_CEILING, math.ceil)


def _scale_argument(compiler: Compiler, node: exp.Func) -> int:
    argument = node.args.get("decimals")
    if argument is None:
        return 0
    code = compiler.compile(argument)
    if not code.constant or code.type.family is not Family.INTEGER:
        raise Unknown("ROUND to a scale that is no constant")
    return int(code.fn(()))


def rounded(compiler: Compiler, node: exp.Round) -> Code:
    """ROUND: exact numbers half away from zero, DOUBLEs half to even."""
    return _rescaled(compiler, node, values.round_decimal, lambda value: math.copysign(round(value), value))


def truncated(compiler: Compiler, node: exp.Trunc) -> Code:
    """TRUNCATE: toward zero."""
    return _rescaled(
        compiler, node, values.cut_decimal, lambda value: math.copysign(math.trunc(value), value)
    )


def _rescaled(
    compiler: Compiler,
    node: exp.Func,
    exact: Callable[[Decimal, int], Decimal],
    whole: Callable[[float], float],
) -> Code:
    code = _number(compiler, node.this)
    digits = _scale_argument(compiler, node)
    family = code.type.family
    if family is Family.DOUBLE:
        return code.then(_rounded_type(compiler, max(digits, 0)), _double_rescaler(digits, whole))
    fixed = quirks_of(compiler).rounds_to_fixed
    if family is Family.INTEGER:
        if not fixed:
            code = code.typed(code.type.but(bits=64, logical=False))
        if digits >= 0:
            return code.typed(code.type)
        if fixed and not code.column and not code.literal:
            raise Unknown("ROUND before the point of integers of unknown length")
        rescaled = code.then(code.type, _integer_rescaler(code.type, digits, exact), fails=True)
        longer = fixed and not quirks_of(compiler).is_old
        grows = longer and code.type.bits == 64 and isinstance(node, exp.Round)
        return as_decimal(rescaled) if grows else rescaled
    own = code.type.scale or 0
    scale = max(digits, 0) if fixed else min(max(digits, 0), own)
    if scale > 30:
        raise Unknown("DECIMALs of more than 30 decimals")

    def rescaled_decimal(value: Decimal) -> Decimal:
        result = exact(value, digits) if digits < own or code.type.loose else value
        return values.checked_decimal(values.round_decimal(result, scale))

    return code.then(decimal(scale), rescaled_decimal)


def _rounded_type(compiler: Compiler, digits: int) -> SqlType:
    """MariaDB prints a rounded DOUBLE, and what is computed from it, with the decimals it was rounded to."""
    return DOUBLE.but(scale=digits) if quirks_of(compiler).rounds_to_fixed else DOUBLE


def _double_rescaler(digits: int, whole: Callable[[float], float]) -> Callable[[float], float]:
    power = 10.0 ** abs(digits) if abs(digits) < 300 else math.inf

    def rescaled(value: float) -> float:
        if not math.isfinite(power):
            raise Unknown("ROUND to hundreds of digits")
        if digits < 0:
            return whole(value / power) * power
        scaled = value * power
        return whole(scaled) / power if math.isfinite(scaled) else value

    return rescaled


def _integer_rescaler(
    type_: SqlType, digits: int, exact: Callable[[Decimal, int], Decimal]
) -> Callable[[int], int]:
    low, high = type_.but(bits=64).integer_bounds

    def rescaled(value: int) -> int:
        result = int(exact(Decimal(value), max(digits, -40)))
        if not low <= result <= high:
            raise Unknown("ROUND beyond 64 bits")
        return result

    return rescaled


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        codes = compiler.all([node.this, *node.expressions])
        families = {code.type.family for code in codes} - {Family.NULL}
        if len(families) > 1 and not families <= {Family.INTEGER, Family.DECIMAL, Family.DOUBLE}:
            raise Unknown("GREATEST and LEAST over numbers and texts")
        if any(code.type.family is Family.NULL for code in codes):
            raise Unknown("GREATEST and LEAST of a bare NULL")
        integers = {code.type.unsigned for code in codes if code.type.family is Family.INTEGER}
        if quirks_of(compiler).is_old and len(integers) > 1:
            raise Unknown("GREATEST and LEAST of signed and unsigned integers before MySQL 8")
        type_, unified = common_type(compiler, codes)
        keyed = comparables(compiler, unified)
        pairs = [(key.fn, code.fn) for key, code in zip(keyed, unified, strict=True)]

        def extreme(row: tuple[Any, ...]) -> Any:
            best_key = best = None
            for key_of, value_of in pairs:
                key = key_of(row)
                if key is None:
                    return None
                if best_key is None or better(key, best_key):
                    best_key, best = key, value_of(row)
                elif key == best_key and repr(value_of(row)) != repr(best):
                    raise Unknown("which of several equal values is the greatest or least")
            return best

        return Code(
            type_.but(loose=True) if type_.is_text else type_,
            extreme,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in unified),
        )

    return handler


greatest = _extreme(lambda new, old: bool(new > old))
least = _extreme(lambda new, old: bool(new < old))


def cast(compiler: Compiler, node: exp.Cast) -> Code:
    """CAST and CONVERT; what a strict write makes of bad input is not modelled."""
    code = compiler.compile(node.this)
    target = node.args["to"]
    kind = target.this
    if kind == DType.BIGINT:
        return _cast_to_integer(compiler, code, unsigned=False)
    if kind == DType.UBIGINT:
        return _cast_to_integer(compiler, code, unsigned=True)
    if kind in (DType.CHAR, DType.VARCHAR, DType.TEXT) and target.args.get("charset") is None:
        return _cast_to_text(compiler, code, target)
    if kind == DType.DECIMAL:
        return _cast_to_decimal(compiler, code, target)
    if kind == DType.DOUBLE:
        compiler.dialect.require("CAST to DOUBLE")
        return as_double(compiler, code).typed(DOUBLE)
    if kind == DType.DATE and code.type.family in (Family.DATE, Family.DATETIME, Family.TEXT):
        return as_datetime(code).then(DATE, lambda value: value.date())
    if kind == DType.DATETIME and code.type.family in (Family.DATE, Family.DATETIME):
        return as_datetime(code).typed(DATETIME)
    raise Unknown(f"CAST to {kind.value}")


def _parameters(target: exp.DataType) -> list[int]:
    return [int(str(parameter.this.this)) for parameter in target.expressions]


def _refuse_in_write(compiler: Compiler, code: Code) -> None:
    if code.type.is_text and code.type.loose:
        raise Unknown("this text as a number")
    if compiler.writes and code.type.is_text:
        raise Unknown("CAST of texts in a write")


def _cast_to_integer(compiler: Compiler, code: Code, *, unsigned: bool) -> Code:
    _refuse_in_write(compiler, code)
    family = code.type.family
    type_ = UNSIGNED if unsigned else INTEGER
    if family is Family.NULL:
        return code.typed(type_)
    if family is Family.TEXT:
        return code.then(type_, lambda text: values.text_to_integer(text, unsigned=unsigned))
    if family is Family.INTEGER:
        return code.then(type_, _unsigned_value if unsigned else _signed_value)
    if family in (Family.DECIMAL, Family.DOUBLE):
        whole = _whole_decimal if family is Family.DECIMAL else values.double_to_integer

        def convert(value: Any) -> int:
            result = whole(value)
            if not (0 if unsigned else -(1 << 63)) <= result < 1 << 63:
                raise Unknown("CAST of numbers that do not fit")
            return result

        return code.then(type_, convert, fails=True)
    raise Unknown("CAST of dates to integers")


def _whole_decimal(value: Decimal) -> int:
    return int(values.round_decimal(value, 0))


def _unsigned_value(value: int) -> int:
    return value & ((1 << 64) - 1)


def _signed_value(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else int(value)


def _cast_to_text(compiler: Compiler, code: Code, target: exp.DataType) -> Code:
    text = as_text(compiler, code)
    type_ = text_type(compiler)
    if code.type.is_text:
        type_ = code.type.but(padded=False, length=None, collation=type_.collation)
    # On MariaDB the text, taken as a number again, has no decimals.
    fixed = quirks_of(compiler).rounds_to_fixed
    type_ = type_.but(strength=Strength.COLUMN, loose=fixed or text.type.loose)
    sizes = _parameters(target)
    if not sizes:
        return text.typed(type_)
    if compiler.writes:
        raise Unknown("CAST to a short text in a write")
    return text.then(type_, lambda value: value[: sizes[0]])


def _cast_to_decimal(compiler: Compiler, code: Code, target: exp.DataType) -> Code:
    _refuse_in_write(compiler, code)
    sizes = _parameters(target)
    precision = sizes[0] if sizes else 10
    scale = sizes[1] if len(sizes) > 1 else 0
    limit = Decimal(10) ** (precision - scale)
    largest = limit - Decimal(1).scaleb(-scale)
    if code.type.is_temporal or code.type.family is Family.OPAQUE:
        raise Unknown("CAST of dates to DECIMAL")
    to_exact = _EXACT_VALUES.get(code.type.family, Decimal)

    def convert(value: Any) -> Decimal:
        result = values.round_decimal(to_exact(value), scale)
        if result.copy_abs() >= limit:
            if compiler.writes:
                raise Unknown("CAST to a short DECIMAL in a write")
            return largest if result > 0 else -largest
        return values.checked_decimal(result)

    return code.then(decimal(scale, precision=precision), convert)


def _double_to_decimal(value: float) -> Decimal:
    return Decimal(repr(value))


_EXACT_VALUES: dict[Family, Callable[[Any], Decimal]] = {
    Family.INTEGER: lambda value: Decimal(int(value)),
    Family.TEXT: values.text_to_decimal,
    Family.DOUBLE: _double_to_decimal,
}


def field_position(compiler: Compiler, node: exp.Anonymous) -> Code:
    """FIELD(value, a, b, ...): the position of the first equal one, 0 if none is."""
    codes = compiler.all(node.expressions)
    if len({(code.type.family, code.type.unsigned) for code in codes}) > 1:
        raise Unknown("FIELD over different types")
    keyed = comparables(compiler, codes)
    subject, others = keyed[0], keyed[1:]
    tests = [strict(INTEGER, lambda a, b: a == b, subject, other).fn for other in others]

    def position(row: tuple[Any, ...]) -> int:
        return next((at for at, test in enumerate(tests, 1) if test(row)), 0)

    return Code(INTEGER, position, constant=all(code.constant for code in codes))


HANDLERS: dict[type[Any], Handler] = {
    exp.Abs: absolute,
    exp.Sign: sign,
    exp.Floor: floor,
    exp.Ceil: ceiling,
    exp.Round: rounded,
    exp.Trunc: truncated,
    exp.Greatest: greatest,
    exp.Least: least,
    exp.Cast: cast,
}
FUNCTIONS: dict[str, Handler] = {"FIELD": field_position}
