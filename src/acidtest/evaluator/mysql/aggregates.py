"""Aggregate functions."""

import operator
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from sqlglot import exp

from acidtest.evaluator.aggregation import counted, distinct_values, extreme_of, single_argument
from acidtest.evaluator.code import Code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql import values
from acidtest.evaluator.mysql.types import as_decimal, as_double
from acidtest.evaluator.summing import sum_doubles
from acidtest.evaluator.types import INTEGER, UNSIGNED, Family, decimal

_MASK = (1 << 64) - 1


def aggregate(compiler: Compiler, node: exp.Expression) -> Aggregate:
    """The aggregate function of a node."""
    if isinstance(node, exp.Count):
        return counted(compiler, node, INTEGER)
    build = _BUILDERS.get(type(node))
    if build is None:
        raise Unknown(f"aggregate {node.key}")
    code, distinct = single_argument(compiler, node)
    return distinct_values(compiler, code, build(compiler, code)) if distinct else build(compiler, code)


def _numeric(compiler: Compiler, code: Code) -> Code:
    if code.type.family in (Family.DOUBLE, Family.TEXT, Family.NULL):
        return as_double(compiler, code)
    return as_decimal(code)


def _sum(compiler: Compiler, code: Code) -> Aggregate:
    number = _numeric(compiler, code)
    if number.type.family is Family.DOUBLE:
        return Aggregate(number.type, number.fn, lambda found: sum_doubles(found) if found else None)
    type_ = decimal(number.type.scale, loose=number.type.loose)
    return Aggregate(type_, number.fn, lambda found: _total(found) if found else None)


def _total(found: list[Decimal]) -> Decimal:
    return values.checked_decimal(reduce(values.EXACT.add, found))


def _average(compiler: Compiler, code: Code) -> Aggregate:
    number = _numeric(compiler, code)
    increment = compiler.dialect.settings.division_digits
    if number.type.family is Family.DOUBLE:
        scale = number.type.scale
        type_ = number.type.but(scale=None if scale is None else scale + increment)
        return Aggregate(type_, number.fn, lambda found: sum_doubles(found) / len(found) if found else None)
    type_ = decimal((number.type.scale or 0) + increment, loose=True)

    def finish(found: list[Decimal]) -> Decimal | None:
        if not found:
            return None
        return values.divide_decimals(_total(found), Decimal(len(found)), increment)

    return Aggregate(type_, number.fn, finish)


def _extreme(largest: bool) -> Callable[[Compiler, Code], Aggregate]:
    def build(compiler: Compiler, code: Code) -> Aggregate:
        plain = code.typed(code.type.but(ragged=False)) if code.type.ragged else code
        return extreme_of(compiler, plain, largest=largest)

    return build


def _bitwise(operate: Callable[[int, int], int], start: int) -> Callable[[Compiler, Code], Aggregate]:
    def build(_compiler: Compiler, code: Code) -> Aggregate:
        if code.type.family not in (Family.INTEGER, Family.NULL):
            raise Unknown("bit aggregates of anything but integers")
        return Aggregate(UNSIGNED, code.fn, lambda found: reduce(operate, (v & _MASK for v in found), start))

    return build


_BUILDERS: dict[type[Any], Callable[[Compiler, Code], Aggregate]] = {
    exp.Sum: _sum,
    exp.Avg: _average,
    exp.Min: _extreme(largest=False),
    exp.Max: _extreme(largest=True),
    exp.BitwiseAndAgg: _bitwise(operator.and_, _MASK),
    exp.BitwiseOrAgg: _bitwise(operator.or_, 0),
    exp.BitwiseXorAgg: _bitwise(operator.xor, 0),
}
