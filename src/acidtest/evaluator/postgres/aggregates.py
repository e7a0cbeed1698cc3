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
from acidtest.evaluator.postgres import values
from acidtest.evaluator.postgres.types import INT8, NUMERIC, UNTYPED, as_text, no_operator
from acidtest.evaluator.summing import sum_doubles
from acidtest.evaluator.types import BOOLEAN, DOUBLE, Family


def aggregate(compiler: Compiler, node: exp.Expression) -> Aggregate:
    """The aggregate function of a node."""
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Distinct) and len(node.this.expressions) != 1:
            raise no_operator("count of several columns")
        return counted(compiler, node, INT8)
    build = _BUILDERS.get(type(node))
    if build is None:
        raise Unknown(f"aggregate {node.key}")
    code, distinct = single_argument(compiler, node)
    if code.type.family in UNTYPED:
        code = as_text(compiler, code)
    if code.type.family is Family.OPAQUE:
        raise Unknown("aggregates of types that are not modelled")
    return distinct_values(compiler, code, build(compiler, code)) if distinct else build(compiler, code)


def _sum(_compiler: Compiler, code: Code) -> Aggregate:
    family = code.type.family
    if family is Family.DOUBLE:
        return Aggregate(DOUBLE, code.fn, lambda found: sum_doubles(found) if found else None, code.fails)
    if family is Family.INTEGER and code.type.bits < 64:
        return Aggregate(
            INT8, code.fn, lambda found: values.ranged(sum(found), 64) if found else None, code.fails
        )
    if family in (Family.INTEGER, Family.DECIMAL):
        return Aggregate(NUMERIC, code.fn, lambda found: _total(found) if found else None, code.fails)
    raise no_operator("sum")


def _total(found: list[Any]) -> Decimal:
    return values.plain_numeric(reduce(values.EXACT.add, [Decimal(value) for value in found]))


def _average(_compiler: Compiler, code: Code) -> Aggregate:
    if code.type.family is Family.DOUBLE:
        return Aggregate(
            DOUBLE, code.fn, lambda found: sum_doubles(found) / len(found) if found else None, code.fails
        )
    if not code.type.is_numeric:
        raise no_operator("avg")

    def finish(found: list[Any]) -> Decimal | None:
        return values.divide_numerics(_total(found), Decimal(len(found))) if found else None

    return Aggregate(NUMERIC, code.fn, finish, code.fails)


def _extreme(largest: bool) -> Callable[[Compiler, Code], Aggregate]:
    def build(compiler: Compiler, code: Code) -> Aggregate:
        if code.type.family is Family.BOOLEAN:
            raise no_operator("min and max of booleans")
        return extreme_of(compiler, code, largest=largest)

    return build


def _every(decide: Callable[[list[bool]], bool]) -> Callable[[Compiler, Code], Aggregate]:
    def build(_compiler: Compiler, code: Code) -> Aggregate:
        if code.type.family is not Family.BOOLEAN:
            raise no_operator("bool_and and bool_or")
        return Aggregate(BOOLEAN, code.fn, lambda found: decide(found) if found else None, code.fails)

    return build


def _bitwise(operate: Callable[[int, int], int]) -> Callable[[Compiler, Code], Aggregate]:
    def build(_compiler: Compiler, code: Code) -> Aggregate:
        if code.type.family is not Family.INTEGER:
            raise no_operator("bit aggregates")
        return Aggregate(
            code.type, code.fn, lambda found: reduce(operate, found) if found else None, code.fails
        )

    return build


_BUILDERS: dict[type[Any], Callable[[Compiler, Code], Aggregate]] = {
    exp.Sum: _sum,
    exp.Avg: _average,
    exp.Min: _extreme(largest=False),
    exp.Max: _extreme(largest=True),
    exp.LogicalAnd: _every(all),
    exp.LogicalOr: _every(any),
    exp.BitwiseAndAgg: _bitwise(operator.and_),
    exp.BitwiseOrAgg: _bitwise(operator.or_),
    exp.BitwiseXorAgg: _bitwise(operator.xor),
}
