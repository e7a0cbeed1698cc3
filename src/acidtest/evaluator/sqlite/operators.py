"""Literals, arithmetic, conditions and functions.

https://www.sqlite.org/lang_expr.html, https://www.sqlite.org/lang_corefunc.html
"""

import operator
import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from acidtest.evaluator import logic, subqueries
from acidtest.evaluator.code import Code, Fn, JoinedRow, strict
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.like import like_pattern
from acidtest.evaluator.query import compile_nested
from acidtest.evaluator.sqlite import values
from acidtest.evaluator.sqlite.values import DYNAMIC
from acidtest.model import ErrorKind

_DIGITS_MAX = 15  # that a REAL holds whatever reads it
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def column(compiler: Compiler, node: exp.Column) -> Code:
    """A column; a name that is none may be a row's number, an alias or a text in double quotes."""
    try:
        return logic.column(compiler, node)
    except EvaluationError as error:
        raise Unknown(f"the name {node.name}") from error


def literal(_compiler: Compiler, node: exp.Literal) -> Code:
    """A text, an integer, or a REAL."""
    spelled = str(node.this)
    if node.is_string:
        return constant_code(DYNAMIC, spelled, literal=True)
    if spelled.isdigit():
        return constant_code(DYNAMIC, values.integer(int(spelled)), literal=True)
    if len(re.sub(r"\D", "", spelled)) > _DIGITS_MAX:
        raise Unknown("a number with many digits")
    return constant_code(DYNAMIC, float(spelled), literal=True)


def boolean(_compiler: Compiler, node: exp.Boolean) -> Code:
    """TRUE and FALSE are other names of 1 and 0."""
    return constant_code(DYNAMIC, int(bool(node.this)), literal=True)


def _divide(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return values.integer(-quotient if (left < 0) != (right < 0) else quotient)


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        raise Unknown("a remainder of REALs")
    if right == 0:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _computed(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        result = operate(values.number(left), values.number(right))
        if isinstance(result, float):
            if result - result != 0:
                raise Unknown("a REAL that is not finite")
            return result
        return None if result is None else values.integer(result)

    return apply


_ARITHMETIC: dict[type[Any], Callable[[Any, Any], Any]] = {
    exp.Add: _computed(operator.add),
    exp.Sub: _computed(operator.sub),
    exp.Mul: _computed(operator.mul),
    exp.Div: _computed(_divide),
    exp.Mod: _computed(_remainder),
}


def arithmetic(compiler: Compiler, node: exp.Binary) -> Code:
    """+ - * / %: of integers as long as 64 bits hold them; a division by zero is NULL."""
    return strict(
        DYNAMIC,
        _ARITHMETIC[type(node)],
        compiler.compile(node.this),
        compiler.compile(node.expression),
    )


def minus(compiler: Compiler, node: exp.Neg) -> Code:
    """Unary minus; before a literal it is part of it."""
    if isinstance(node.this, exp.Literal) and str(node.this.this) == str(1 << 63):
        return constant_code(DYNAMIC, -(1 << 63), literal=True)
    code = compiler.compile(node.this)
    if isinstance(node.this, exp.Literal):
        return code.then(DYNAMIC, lambda value: -values.number(value))
    return code.then(DYNAMIC, lambda value: _negated(values.number(value)))


def _negated(value: Any) -> Any:
    """A difference to zero, so that no zero gets a sign."""
    return 0.0 - value if isinstance(value, float) else values.integer(-value)


def absolute(compiler: Compiler, node: exp.Abs) -> Code:
    """ABS fails for the smallest integer."""
    return compiler.compile(node.this).then(DYNAMIC, _absolute, fails=True)


def _absolute(value: Any) -> Any:
    found = values.number(value)
    if found == -(1 << 63) and not isinstance(found, float):
        raise EvaluationError(ErrorKind.OUT_OF_RANGE, "integer overflow")
    return -found if found < 0 else found  # a negative zero keeps its sign


def truth(fn: Fn) -> Fn:
    """A number as True, False or None."""

    def tested(row: JoinedRow) -> bool | None:
        value = fn(row)
        return None if value is None else values.number(value) != 0

    return tested


def scalar(compiler: Compiler, node: exp.Subquery) -> Code:
    """A subquery as a value: its first row, whichever that is."""
    if node.args.get("joins") or node.args.get("alias"):
        raise Unknown("a subquery with an alias in an expression")
    plan = compile_nested(compiler, node.this)
    if len(plan.types) != 1:
        raise Unknown("a subquery of several columns as a value")

    def value(row: JoinedRow) -> Any:
        rows = plan.rows(row)
        if any(repr(one[0]) != repr(rows[0][0]) for one in rows):
            raise Unknown("which row of a subquery comes first")
        return rows[0][0] if rows else None

    return Code(compiler.dialect.derived(plan.types[0]), value, fails=plan.fails)


def nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF is a function, so no affinity is applied before it compares."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    first, second = left.fn, right.fn

    def chosen(row: JoinedRow) -> Any:
        one, two = first(row), second(row)
        if one is None or two is None:
            return one
        return None if values.sort_key(one) == values.sort_key(two) else one

    return Code(
        DYNAMIC,
        chosen,
        constant=left.constant and right.constant,
        fails=left.fails or right.fails,
    )


def _extreme(choose: Callable[..., Any]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        def extreme(*found: Any) -> Any:
            best = choose(found, key=values.sort_key)
            if any(value == best and repr(value) != repr(best) for value in found):
                raise Unknown("which of several equal values is the smallest or largest")
            return best

        return strict(DYNAMIC, extreme, *compiler.all([node.this, *node.expressions]))

    return handler


def if_function(compiler: Compiler, node: exp.If) -> Code:
    """IIF; without its last argument it came with 3.48."""
    if node.args.get("false") is None:
        raise Unknown("IIF of two arguments")
    return logic.if_function(compiler, node)


def like(compiler: Compiler, node: exp.Like) -> Code:
    """LIKE does not mind the case of ASCII letters and has no escape of its own."""
    wanted = not node.args.get("negate")
    codes = [compiler.compile(node.this), compiler.compile(node.expression)]

    def matches(subject: Any, pattern: Any) -> bool:
        sought = like_pattern(values.text(pattern), "", folds_case=True)
        return (sought.fullmatch(values.text(subject)) is not None) is wanted

    return compiler.dialect.logical(strict(DYNAMIC, matches, *codes).fn, *codes)


def pipes(compiler: Compiler, node: exp.DPipe) -> Code:
    """||"""
    codes = (compiler.compile(node.this), compiler.compile(node.expression))
    return strict(DYNAMIC, lambda left, right: values.text(left) + values.text(right), *codes)


def length(compiler: Compiler, node: exp.Length) -> Code:
    """LENGTH in characters, up to the first NUL."""
    return compiler.compile(node.this).then(DYNAMIC, lambda value: len(values.text(value).partition("\0")[0]))


def _mapped(letters: dict[int, int]) -> Callable[[Compiler, Any], Code]:
    """UPPER and LOWER change ASCII letters only."""

    def handler(compiler: Compiler, node: exp.Func) -> Code:
        return compiler.compile(node.this).then(DYNAMIC, lambda value: values.text(value).translate(letters))

    return handler


def substring(compiler: Compiler, node: exp.Substring) -> Code:
    """SUBSTR from a position on, counted from 1."""
    parts = [node.this, node.args["start"], node.args.get("length")]
    codes = compiler.all([part for part in parts if part is not None])

    def cut(value: Any, start: Any, size: Any = None) -> str:
        counts = [one for one in (start, size) if one is not None]
        if not all(isinstance(one, int) for one in counts) or start < 1 or (size is not None and size < 0):
            raise Unknown("SUBSTR that counts from the end")
        whole = values.text(value)[start - 1 :]
        return whole if size is None else whole[:size]

    return strict(DYNAMIC, cut, *codes)


HANDLERS: dict[type[Any], Handler] = {
    **subqueries.SHARED,
    **dict.fromkeys(logic.TESTS, logic.comparison),  # there is no ANY or ALL
    exp.Column: column,
    exp.Literal: literal,
    exp.Boolean: boolean,
    **dict.fromkeys(_ARITHMETIC, arithmetic),
    exp.Neg: minus,
    exp.Abs: absolute,
    exp.Subquery: scalar,
    exp.Nullif: nullif,
    exp.Greatest: _extreme(max),
    exp.Least: _extreme(min),
    exp.If: if_function,
    exp.Like: like,
    exp.DPipe: pipes,
    exp.Length: length,
    exp.Upper: _mapped(_UPPER),
    exp.Lower: _mapped(_LOWER),
    exp.Substring: substring,
}
