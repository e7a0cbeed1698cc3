"""Aggregate functions: https://www.sqlite.org/lang_aggfunc.html"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from acidtest.evaluator.aggregation import counted, extreme_of, single_argument
from acidtest.evaluator.code import Code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.sqlite import values
from acidtest.evaluator.sqlite.values import DYNAMIC
from acidtest.evaluator.summing import sum_doubles
from acidtest.model import ErrorKind

_EXACT_MAX = 1 << 53


def aggregate(compiler: Compiler, node: exp.Expression) -> Aggregate:
    """The aggregate function of a node."""
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Distinct) and len(node.this.expressions) != 1:
            raise Unknown("COUNT of several columns")
        return counted(compiler, node, DYNAMIC)
    build = _BUILDERS.get(type(node))
    if build is None:
        raise Unknown(f"aggregate {node.key}")
    code, distinct = single_argument(compiler, node)
    made = build(compiler, code)
    return _of_distinct(made) if distinct else made


def _of_distinct(inner: Aggregate) -> Aggregate:
    def finish(found: list[Any]) -> Any:
        return inner.finish(list({values.sort_key(value): value for value in found}.values()))

    return Aggregate(inner.type, inner.collect, finish, inner.fails)


def _sum(_compiler: Compiler, code: Code) -> Aggregate:
    return Aggregate(DYNAMIC, code.fn, lambda found: _total(found) if found else None, fails=True)


def _total(found: list[Any]) -> int | float:
    """An integer if all values are; one that 64 bits do not hold is an error, perhaps on the way already."""
    numbers = [values.number(value) for value in found]
    if any(isinstance(one, float) for one in numbers):
        if any(abs(one) >= _EXACT_MAX for one in numbers):
            raise Unknown("a sum of REALs and large integers")
        return sum_doubles([float(one) for one in numbers])
    if sum(abs(one) for one in numbers) < 1 << 63:
        return sum(numbers)
    if -(1 << 63) <= sum(numbers) < 1 << 63:
        raise Unknown("a sum of integers that may overflow on the way")
    raise EvaluationError(ErrorKind.OUT_OF_RANGE, "integer overflow")


def _average(_compiler: Compiler, code: Code) -> Aggregate:
    def finish(found: list[Any]) -> float | None:
        if not found:
            return None
        if sum(abs(values.number(value)) for value in found) >= _EXACT_MAX:
            raise Unknown("an average of large numbers")
        return float(_total(found)) / len(found)

    return Aggregate(DYNAMIC, code.fn, finish, code.fails)


def _extreme(largest: bool) -> Callable[[Compiler, Code], Aggregate]:
    return lambda compiler, code: extreme_of(compiler, code, largest=largest)


_BUILDERS: dict[type[Any], Callable[[Compiler, Code], Aggregate]] = {
    exp.Sum: _sum,
    exp.Avg: _average,
    exp.Min: _extreme(largest=False),
    exp.Max: _extreme(largest=True),
}
