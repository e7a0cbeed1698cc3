"""Aggregate functions: https://duckdb.org/docs/stable/sql/functions/aggregates"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from sqlglot import exp

from acidtest.evaluator.aggregation import counted, distinct_values, extreme_of, single_argument
from acidtest.evaluator.code import Code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate
from acidtest.evaluator.duckdb.types import INT8, UNTYPED, small
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.postgres.values import EXACT
from acidtest.evaluator.summing import sum_doubles
from acidtest.evaluator.types import DOUBLE, INTEGER, Family

_EXACT_MAX = 1 << 53
HUGEINT = INTEGER.but(bits=128)


def aggregate(compiler: Compiler, node: exp.Expression) -> Aggregate:
    """The aggregate function of a node."""
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Distinct) and len(node.this.expressions) != 1:
            raise Unknown("COUNT of several columns")
        return counted(compiler, node, INT8)
    build = _BUILDERS.get(type(node))
    if build is None:
        raise Unknown(f"aggregate {node.key}")
    code, distinct = single_argument(compiler, node)
    if code.type.family in UNTYPED or code.type.family is Family.OPAQUE:
        raise Unknown("aggregates of literals and of types that are not modelled")
    made = build(compiler, code)
    return distinct_values(compiler, code, made) if distinct else made


def _sum(_compiler: Compiler, code: Code) -> Aggregate:
    finish: Callable[[list[Any]], Any]
    if code.type.family is Family.INTEGER:
        type_, finish = HUGEINT, sum
    elif code.type.family is Family.DECIMAL:
        type_, finish = code.type, _total
    elif code.type.family is Family.DOUBLE:
        type_, finish = DOUBLE, sum_doubles
    else:
        raise Unknown(f"SUM of {code.type.family}")
    return Aggregate(type_, code.fn, lambda found: finish(found) if found else None, code.fails)


def _total(found: list[Any]) -> Any:
    return small(reduce(EXACT.add, found))


def _average(_compiler: Compiler, code: Code) -> Aggregate:
    if code.type.family not in (Family.INTEGER, Family.DOUBLE):
        raise Unknown(f"AVG of {code.type.family}")

    def finish(found: list[Any]) -> float | None:
        if not found:
            return None
        total = sum_doubles([float(value) for value in found])
        if abs(total) >= _EXACT_MAX:
            raise Unknown("an average of large numbers")
        return total / len(found)

    return Aggregate(DOUBLE, code.fn, finish, code.fails)


def _extreme(largest: bool) -> Callable[[Compiler, Code], Aggregate]:
    return lambda compiler, code: extreme_of(compiler, code, largest=largest)


_BUILDERS: dict[type[Any], Callable[[Compiler, Code], Aggregate]] = {
    exp.Sum: _sum,
    exp.Avg: _average,
    exp.Min: _extreme(largest=False),
    exp.Max: _extreme(largest=True),
}
