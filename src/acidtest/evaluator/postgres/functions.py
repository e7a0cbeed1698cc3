"""Functions of numbers, choices among values, and casts."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, JoinedRow, strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.postgres import values
from acidtest.evaluator.postgres.operators import comparables
from acidtest.evaluator.postgres.types import (
    INT4,
    NUMERIC,
    UNTYPED,
    as_number,
    as_text,
    as_timestamp,
    common_type,
    convert,
    default_collation,
    fit,
    mismatch,
    no_operator,
    reader,
    settle,
    type_of_spelling,
)
from acidtest.evaluator.types import BOOLEAN, DOUBLE, Family, SqlType

DType = exp.DataType.Type
_SPELLINGS = {
    DType.SMALLINT: "smallint",
    DType.INT: "integer",
    DType.BIGINT: "bigint",
    DType.DECIMAL: "numeric",
    DType.DOUBLE: "double precision",
    DType.TEXT: "text",
    DType.VARCHAR: "character varying",
    DType.CHAR: "character",
    DType.BOOLEAN: "boolean",
    DType.DATE: "date",
    DType.TIMESTAMP: "timestamp without time zone",
}


def _number(compiler: Compiler, node: exp.Expression) -> Code:
    code = compiler.compile(node)
    if code.type.family in UNTYPED:
        return settle(code, DOUBLE)
    if code.type.family is Family.OPAQUE:
        raise Unknown("types that are not modelled, as numbers")
    if not code.type.is_numeric:
        raise no_operator()
    return code


def absolute(compiler: Compiler, node: exp.Abs) -> Code:
    """ABS keeps the type."""
    code = _number(compiler, node.this)
    if code.type.family is Family.INTEGER:
        bits = code.type.bits
        return code.then(code.type, lambda value: values.ranged(abs(value), bits), fails=True)
    if code.type.family is Family.DECIMAL:
        return code.then(NUMERIC, Decimal.copy_abs)
    return code.then(DOUBLE, abs)


def _inexact(compiler: Compiler, node: exp.Expression) -> Code:
    """Functions that exist for numeric and double precision take integers as the latter."""
    code = _number(compiler, node)
    return as_number(code, Family.DOUBLE) if code.type.family is Family.INTEGER else code


def sign(compiler: Compiler, node: exp.Sign) -> Code:
    """SIGN."""
    code = _inexact(compiler, node.this)
    if code.type.family is Family.DOUBLE:
        return code.then(DOUBLE, lambda value: float((value > 0) - (value < 0)))
    return code.then(NUMERIC, lambda value: Decimal((value > 0) - (value < 0)))


def _to_whole(rounding: str, of_double: Callable[[float], float]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        if node.args.get("decimals") is not None or node.args.get("to") is not None:
            raise Unknown("FLOOR and CEIL with a scale")
        code = _inexact(compiler, node.this)
        if code.type.family is Family.DOUBLE:
            return code.then(DOUBLE, lambda value: _keep_sign(value, float(of_double(value))))
        return code.then(NUMERIC, lambda value: values.plain_numeric(value.to_integral_value(rounding)))

    return handler


def _keep_sign(value: float, result: float) -> float:
    """Rounding to zero keeps the sign, as the C library's functions do."""
    return math.copysign(result, value) if result == 0 else result


def _rescaled(rounding: str | None, of_double: Callable[[float], float]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        digits = node.args.get("decimals")
        if digits is None:
            if rounding and compiler.compile(node.this).type.family in UNTYPED:
                raise Unknown("TRUNC of a literal without a type")
            code = _inexact(compiler, node.this)
            if code.type.family is Family.DOUBLE:
                return code.then(DOUBLE, lambda value: _keep_sign(value, float(of_double(value))))
            return code.then(NUMERIC, lambda value: _round(value, 0, rounding))
        code, scale = compiler.compile(node.this), compiler.compile(digits)
        code = settle(code, NUMERIC) if code.type.family in UNTYPED else _number(compiler, node.this)
        if code.type.family is Family.DOUBLE:
            raise no_operator()
        if scale.type.family is not Family.INTEGER or scale.type.bits > 32:
            raise Unknown("ROUND to a scale that is no integer")
        exact = as_number(code, Family.DECIMAL)
        return strict(NUMERIC, lambda value, places: _round(value, places, rounding), exact, scale)

    return handler


def _round(value: Decimal, places: int, rounding: str | None) -> Decimal:
    if not -500 <= places <= 500:
        raise Unknown("ROUND to hundreds of digits")
    if rounding is None:
        return values.rescale(value, places)
    cut = value.quantize(Decimal(1).scaleb(-places), rounding, values.EXACT)
    return values.plain_numeric(cut)


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        type_, codes = common_type(compiler, compiler.all([node.this, *node.expressions]))
        keyed = [comparables(compiler, (code, codes[0]), ordering=True)[0] for code in codes]
        pairs = [(key.fn, code.fn) for key, code in zip(keyed, codes, strict=True)]

        def extreme(row: JoinedRow) -> Any:
            best_key = best = None
            for key_of, value_of in pairs:
                key = key_of(row)
                if key is not None and (best_key is None or better(key, best_key)):
                    best_key, best = key, value_of(row)
            return best

        return Code(
            type_,
            extreme,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    return handler


def nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF: the first operand as the comparison sees it."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    equal = compiler.truth(compiler.equal(left, right))
    never = any(code.constant and not code.fails and code.fn(()) is None for code in (left, right))
    if left.type.family in UNTYPED:
        other = right.type if right.type.family not in UNTYPED else as_text(compiler, right).type
        left = settle(left, other)
    elif left.type.is_numeric and right.type.is_numeric:
        wider, _ = common_type(compiler, (left, right))
        left = left if wider.family is left.type.family else convert(compiler, left, wider)
    elif left.type.is_text and left.type.padded != right.type.padded:
        raise Unknown("NULLIF of CHAR and text")
    elif left.type.family is Family.DATE and right.type.family is Family.DATETIME:
        raise Unknown("NULLIF of dates and timestamps")
    if never:
        return left  # a NULL is equal to nothing, so the comparison is left out
    value = left.fn
    return Code(
        left.type,
        lambda row: None if equal(row) is True else value(row),
        constant=left.constant and right.constant,
        fails=left.fails or right.fails,
    )


def cast(compiler: Compiler, node: exp.Cast) -> Code:
    """CAST, :: and type 'literal'."""
    code = compiler.compile(node.this)
    target = _target(compiler, node.args["to"])
    converted = _converted(compiler, code, target)
    fitted = fit(target, explicit=True)
    if fitted is None:
        return converted.typed(target)
    return converted.then(target, fitted, fails=target.family is Family.DECIMAL)


def _target(compiler: Compiler, node: exp.DataType) -> SqlType:
    spelling = _SPELLINGS.get(node.this)
    if spelling is None:
        raise Unknown(f"CAST to {node.this}")
    sizes = ",".join(str(parameter.this.this) for parameter in node.expressions)
    return type_of_spelling(f"{spelling}({sizes})" if sizes else spelling, default_collation(compiler))


def _converted(compiler: Compiler, code: Code, target: SqlType) -> Code:
    source = code.type
    if source.family in UNTYPED:
        return settle(code, target)
    if target.is_text:
        return code if source.is_text and (source.padded and target.padded) else as_text(compiler, code)
    if source.is_text:
        return as_text(compiler, code).then(target, reader(target), fails=True)
    if source.family is Family.OPAQUE:
        raise Unknown("CAST of types that are not modelled")
    pair = (source.family, target.family)
    if source.is_numeric and target.is_numeric:
        return number_to(code, target)
    if pair == (Family.BOOLEAN, Family.INTEGER) and target.bits == 32:
        return code.then(INT4, int)
    if pair == (Family.INTEGER, Family.BOOLEAN) and source.bits == 32:
        return code.then(BOOLEAN, bool)
    if pair == (Family.DATETIME, Family.DATE):
        return code.then(target, lambda value: value.date())
    if pair == (Family.DATE, Family.DATETIME):
        return as_timestamp(code)
    if source.family is target.family:
        return code
    raise mismatch("cannot cast")


def number_to(code: Code, target: SqlType) -> Code:
    """A number in any other numeric type, as casts and assignments convert it."""
    family = code.type.family
    bits = target.bits
    if target.family is Family.INTEGER:
        if family is Family.INTEGER:
            narrower = bits < code.type.bits
            return (
                code.then(target, lambda value: values.ranged(value, bits), fails=True) if narrower else code
            )
        to_integer = values.numeric_to_integer if family is Family.DECIMAL else values.double_to_integer
        return code.then(target, lambda value: to_integer(value, bits), fails=True)
    if target.family is Family.DECIMAL and family is Family.DOUBLE:
        return code.then(NUMERIC, values.double_to_numeric)
    return as_number(code, target.family)


HANDLERS: dict[type[Any], Handler] = {
    exp.Abs: absolute,
    exp.Sign: sign,
    exp.Floor: _to_whole(ROUND_FLOOR, math.floor),
    exp.Ceil: _to_whole(ROUND_CEILING, math.ceil),
    exp.Round: _rescaled(None, round),
    exp.Trunc: _rescaled(ROUND_DOWN, math.trunc),
    exp.Greatest: _extreme(lambda new, old: bool(new > old)),
    exp.Least: _extreme(lambda new, old: bool(new < old)),
    exp.Nullif: nullif,
    exp.Cast: cast,
}
