"""Subqueries in expressions: scalar, EXISTS, IN, ANY and ALL."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from sqlglot import exp

from acidtest.evaluator import logic
from acidtest.evaluator.code import Code, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.plan import Plan
from acidtest.evaluator.query import compile_nested
from acidtest.model import ErrorKind


def scalar(compiler: Compiler, node: exp.Subquery) -> Code:
    """A subquery as a value: NULL without a row, an error with several."""
    if node.args.get("joins") or node.args.get("alias"):
        raise Unknown("a subquery with an alias in an expression")
    plan = compile_nested(compiler, node.this)
    if len(plan.types) != 1:
        raise EvaluationError(ErrorKind.SYNTAX, "operand should contain 1 column")

    def value(row: JoinedRow) -> Any:
        rows = plan.rows(row)
        if len(rows) > 1:
            raise EvaluationError(compiler.dialect.many_rows, "subquery returns more than 1 row")
        return rows[0][0] if rows else None

    return Code(compiler.dialect.derived(plan.types[0]), value, fails=True)


def exists(compiler: Compiler, node: exp.Exists) -> Code:
    """EXISTS."""
    plan = compile_nested(compiler, node.this)
    probe = plan.exists
    return compiler.dialect.logical(probe, Code(plan.types[0], probe, fails=plan.fails))


def _columns(compiler: Compiler, plan: Plan) -> list[Code]:
    return [Code(compiler.dialect.derived(type_), _at(position)) for position, type_ in enumerate(plan.types)]


def _at(position: int) -> Fn:
    return lambda row: row[position]


def in_list_or_query(compiler: Compiler, node: exp.In) -> Code:
    """IN: TRUE if some row is equal, else NULL if some comparison is, else FALSE."""
    query = node.args.get("query")
    if query is None:
        return logic.membership(compiler, node)
    plan = compile_nested(compiler, query.this if isinstance(query, exp.Subquery) else query)
    operands = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    left = compiler.all(operands)
    right = _columns(compiler, plan)
    if len(left) != len(right):
        raise EvaluationError(ErrorKind.SYNTAX, "operand should contain as many columns")
    pairs = [
        compiler.dialect.comparables(compiler, (compiler.dialect.sought(one, two), two), ordering=False)
        for one, two in zip(left, right, strict=True)
    ]
    return _quantified(compiler, plan, pairs, lambda a, b: bool(a == b), wants_all=False)


def compared(compiler: Compiler, node: exp.Binary) -> Code:
    """A comparison; against ANY and ALL of a subquery too."""
    quantifier = node.expression
    if not isinstance(quantifier, exp.Any | exp.All):
        return logic.comparison(compiler, node)
    query = quantifier.this.this if isinstance(quantifier.this, exp.Subquery) else quantifier.this
    if not isinstance(query, exp.Query):
        raise Unknown("ANY and ALL over an array")
    plan = compile_nested(compiler, cast(exp.Expression, query))
    ordering = not isinstance(node, exp.EQ | exp.NEQ)
    column = _columns(compiler, plan)[0]
    operands = (compiler.dialect.sought(compiler.compile(node.this), column), column)
    pair = compiler.dialect.comparables(compiler, operands, ordering=ordering)
    test = logic.TESTS[type(node)]
    return _quantified(compiler, plan, [pair], test, wants_all=isinstance(quantifier, exp.All))


def _quantified(
    compiler: Compiler,
    plan: Plan,
    pairs: Sequence[Sequence[Code]],
    test: Callable[[Any, Any], Any],
    *,
    wants_all: bool,
) -> Code:
    """Some (or every) row passes the test, in three-valued logic."""
    fns = [(left.fn, right.fn) for left, right in pairs]

    def verdict(values: Sequence[Any], inner: Sequence[Any]) -> bool | None:
        unknown = False
        for value, (_, right) in zip(values, fns, strict=True):
            other = right(inner)  # type: ignore[arg-type]
            if value is None or other is None:
                unknown = True
            elif not test(value, other):
                return False
        return None if unknown else True

    def quantified(row: JoinedRow) -> bool | None:
        values = [left(row) for left, _ in fns]
        outcome: bool | None = wants_all
        for inner in plan.rows(row):
            passed = verdict(values, inner)
            if passed is not wants_all:
                if passed is not None:
                    return passed
                outcome = None
        return outcome

    codes = [code for pair in pairs for code in pair]
    sure = Code(plan.types[0], fns[0][0], fails=plan.fails)
    return compiler.dialect.logical(quantified, sure, *codes)


SHARED: dict[type[Any], Handler] = {
    **logic.SHARED,
    **dict.fromkeys(logic.TESTS, compared),
    exp.In: in_list_or_query,
    exp.Subquery: scalar,
    exp.Exists: exists,
}
