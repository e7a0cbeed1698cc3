"""What aggregates of every dialect have in common."""

from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.types import SqlType


def single_argument(compiler: Compiler, node: exp.Expression) -> tuple[Code, bool]:
    """The argument of an aggregate, and whether only distinct values count."""
    argument = node.this
    if isinstance(argument, exp.Distinct):
        if len(argument.expressions) != 1:
            raise Unknown("DISTINCT over several columns")
        return compiler.compile(argument.expressions[0]), True
    if argument is None or node.args.get("expressions"):
        raise Unknown(f"arguments of {node.key}")
    return compiler.compile(argument), False


def counted(compiler: Compiler, node: exp.Count, type_: SqlType) -> Aggregate:
    """COUNT(*), COUNT(x), COUNT(DISTINCT x, ...)."""
    argument = node.this
    if isinstance(argument, exp.Star):
        return Aggregate(type_, lambda _row: True, len)
    if isinstance(argument, exp.Distinct):
        return _count_distinct(compiler, argument, type_)
    code, _ = single_argument(compiler, node)
    return Aggregate(type_, code.fn, len, fails=code.fails)


def _count_distinct(compiler: Compiler, node: exp.Distinct, type_: SqlType) -> Aggregate:
    codes = compiler.all(node.expressions)
    parts = [(code.fn, compiler.dialect.key(code.type, ordering=False)) for code in codes]

    def collect(row: JoinedRow) -> tuple[Any, ...] | None:
        values = [fn(row) for fn, _ in parts]
        if None in values:
            return None
        return tuple(key(value) for value, (_, key) in zip(values, parts, strict=True))

    return Aggregate(type_, collect, lambda found: len(set(found)), fails=any(code.fails for code in codes))


def distinct_values(compiler: Compiler, code: Code, inner: Aggregate) -> Aggregate:
    """Only distinct values count."""
    if not code.type.is_numeric:
        raise Unknown("aggregates of distinct values that are no numbers")
    key = compiler.dialect.key(code.type, ordering=False)

    def finish(found: list[Any]) -> Any:
        return inner.finish(list({key(value): value for value in found}.values()))

    return Aggregate(inner.type, inner.collect, finish, inner.fails)


def extreme_of(compiler: Compiler, code: Code, *, largest: bool) -> Aggregate:
    """MIN and MAX; where equal values differ in their text, which one is shown is not certain."""
    key = compiler.dialect.key(code.type, ordering=True)
    choose = max if largest else min

    def finish(found: list[Any]) -> Any:
        if not found:
            return None
        best = choose(found, key=key)
        wanted = key(best)
        if any(key(value) == wanted and repr(value) != repr(best) for value in found):
            raise Unknown("which of several equal values is the smallest or largest")
        return best

    return Aggregate(code.type, code.fn, finish, fails=code.fails)
