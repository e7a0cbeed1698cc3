"""Literals, arithmetic, conditions and functions.

Rows are computed by the thousand, so an error in one part of a condition may come although another part
excludes the row, or may not: such errors are unsure. https://duckdb.org/docs/stable/sql/functions/overview
"""

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from acidtest.evaluator import logic, subqueries
from acidtest.evaluator.code import Code, JoinedRow, strict, unsure, unsure_strict
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.duckdb.types import (
    DIGITS_MAX,
    INT4,
    INT8,
    LITERAL,
    TEXT,
    UNTYPED,
    as_number,
    common,
    ranged,
    settle,
    small,
    wider,
)
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.like import like_pattern
from acidtest.evaluator.postgres.values import EXACT
from acidtest.evaluator.types import BOOLEAN, DOUBLE, Family, decimal


def column(compiler: Compiler, node: exp.Column) -> Code:
    """A column; a name that is none may be a row's number or an alias of the select list."""
    try:
        return logic.column(compiler, node)
    except EvaluationError as error:
        raise Unknown(f"the name {node.name}") from error


def literal(_compiler: Compiler, node: exp.Literal) -> Code:
    """A text waits for its type; a number with a point is a DECIMAL."""
    spelled = str(node.this)
    if node.is_string:
        return constant_code(LITERAL, spelled, literal=True)
    if spelled.isdigit():
        return _whole(int(spelled))
    if "e" in spelled.lower() or len(spelled) > DIGITS_MAX:
        raise Unknown("a number with an exponent or with many digits")
    value = Decimal(spelled)
    return constant_code(decimal(-int(value.as_tuple().exponent)), value, literal=True)


def _whole(value: int) -> Code:
    if not -(1 << 63) <= value < 1 << 63:
        raise Unknown("integers of more than 64 bits")
    type_ = INT4 if -(1 << 31) <= value < 1 << 31 else INT8
    return constant_code(type_, value, literal=True)


def boolean(_compiler: Compiler, node: exp.Boolean) -> Code:
    """TRUE and FALSE."""
    return constant_code(BOOLEAN, bool(node.this), literal=True)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise Unknown("a division by zero: NULL or an error, by version and setting")
    if right == -1 and left in (-(1 << 31), -(1 << 63)):
        raise Unknown("a remainder whose quotient overflows")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


_INTEGERS: dict[type[Any], Callable[[int, int], int]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
    exp.Mod: _remainder,
}
_DECIMALS: dict[type[Any], Callable[[Decimal, Decimal], Decimal]] = {
    exp.Add: EXACT.add,
    exp.Sub: EXACT.subtract,
}
_DOUBLES: dict[type[Any], Callable[[float, float], float]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


def arithmetic(compiler: Compiler, node: exp.Binary) -> Code:
    """+ - * %: in the wider of the two types."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    known = [code.type for code in (left, right) if code.type.family is not Family.NULL]
    if not known or not all(type_.is_numeric for type_ in known):
        raise Unknown("arithmetic of anything but numbers")
    target = wider(known)
    one, two = as_number(left, target), as_number(right, target)
    if target.family is Family.INTEGER and type(node) in _INTEGERS:
        return unsure_strict(target, _in_range(target.bits, _INTEGERS[type(node)]), one, two, fails=True)
    if target.family is Family.DECIMAL and type(node) in _DECIMALS:
        of_decimals = _DECIMALS[type(node)]
        return unsure_strict(target, lambda a, b: small(of_decimals(a, b)), one, two)
    if target.family is Family.DOUBLE and type(node) in _DOUBLES:
        of_doubles = _DOUBLES[type(node)]
        return unsure_strict(DOUBLE, lambda a, b: _finite(of_doubles(a, b)), one, two)
    raise Unknown(f"{node.key} of {target.family}")


def _in_range(bits: int, operate: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def apply(left: int, right: int) -> int:
        return ranged(operate(left, right), bits)

    return apply


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Unknown("a double that is not finite")
    return value


def _signed(change: Callable[[Any], Any]) -> Callable[[Compiler, Any], Code]:
    """Unary minus and ABS keep the type."""

    def handler(compiler: Compiler, node: exp.Expression) -> Code:
        code = compiler.compile(node.this)
        if code.literal and isinstance(node, exp.Neg) and code.type.family is Family.INTEGER:
            return _whole(-code.fn(()))
        if code.type.family is Family.INTEGER:
            bits = code.type.bits
            return code.then(code.type, lambda value: _inverted(change(value), bits))
        if code.type.family is Family.DECIMAL:
            return code.then(code.type, lambda value: small(change(value)))
        if code.type.family is Family.DOUBLE:
            return code.then(DOUBLE, change)
        raise Unknown(f"{node.key} of {code.type.family}")

    return handler


def _inverted(value: int, bits: int) -> int:
    try:
        return ranged(value, bits)
    except EvaluationError as error:
        raise Unknown("the smallest integer without its sign") from error


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[[Compiler, Any], Code]:
    """GREATEST and LEAST leave NULLs out."""

    def handler(compiler: Compiler, node: exp.Func) -> Code:
        type_, codes = common(compiler.all([node.this, *node.expressions]))
        fns = [code.fn for code in codes]

        def extreme(row: JoinedRow) -> Any:
            best = None
            for fn in fns:
                value = fn(row)
                if value is not None and (best is None or better(value, best)):
                    best = value
            return best

        return Code(
            type_,
            extreme,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    return handler


def _text(compiler: Compiler, node: exp.Expression) -> Code:
    code = settle(compiler.compile(node), TEXT)
    if not code.type.is_text:
        raise Unknown("functions of text over other types")
    return code


def like(compiler: Compiler, node: exp.Like) -> Code:
    """LIKE tells cases apart; it has no escape of its own."""
    wanted = not node.args.get("negate")
    codes = [_text(compiler, node.this), _text(compiler, node.expression)]

    def matches(subject: str, pattern: str) -> bool:
        return (like_pattern(pattern, "", folds_case=False).fullmatch(subject) is not None) is wanted

    return compiler.dialect.logical(strict(TEXT, matches, *codes).fn, *codes)


def pipes(compiler: Compiler, node: exp.DPipe) -> Code:
    """|| of texts."""
    return strict(TEXT, operator.add, _text(compiler, node.this), _text(compiler, node.expression))


def _ascii(text: str) -> str:
    if not text.isascii():
        raise Unknown("characters beyond ASCII")
    return text


def length(compiler: Compiler, node: exp.Length) -> Code:
    """LENGTH in characters."""
    return _text(compiler, node.this).then(INT8, lambda text: len(_ascii(text)))


def _mapped(change: Callable[[str], str]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        return _text(compiler, node.this).then(TEXT, lambda text: change(_ascii(text)))

    return handler


def substring(compiler: Compiler, node: exp.Substring) -> Code:
    """SUBSTRING from a position on, counted from 1."""
    parts = [node.args[name] for name in ("start", "length") if node.args.get(name) is not None]
    counts = compiler.all(parts)
    if any(code.type.family is not Family.INTEGER for code in counts):
        raise Unknown("SUBSTRING by anything but integers")

    def cut(text: str, start: int, size: int | None = None) -> str:
        if start < 1 or (size is not None and size < 0):
            raise Unknown("SUBSTRING that counts from the end")
        whole = _ascii(text)[start - 1 :]
        return whole if size is None else whole[:size]

    return strict(TEXT, cut, _text(compiler, node.this), *counts)


def nullif(compiler: Compiler, node: exp.Nullif) -> Code:
    """NULLIF, of operands whose common type is the first one's."""
    if compiler.compile(node.this).type.family in UNTYPED:
        raise Unknown("NULLIF of a literal")
    return logic.nullif(compiler, node)


def scalar(compiler: Compiler, node: exp.Subquery) -> Code:
    """A subquery as a value; whether several rows are an error is a setting."""
    code = subqueries.scalar(compiler, node)
    return replace(code, fn=unsure(code.fn))


def cautious(handler: Handler) -> Handler:
    """Where not all operands need to be computed they still may be: an error in any of them is unsure."""

    def compiled(compiler: Compiler, node: Any) -> Code:
        code = handler(compiler, node)
        if not code.fails:
            return code
        parts = [compiler.compile(part) for part in _operands(node)]
        probes = [unsure(part.fn) for part in parts if part.fails]
        decide = unsure(code.fn)

        def probed(row: JoinedRow) -> Any:
            for probe in probes:
                probe(row)
            return decide(row)

        return replace(code, fn=probed)

    return compiled


def _operands(node: exp.Expression) -> list[exp.Expression]:
    """What a condition or choice may compute; a subquery sees to itself."""
    children = [part for part in node.iter_expressions() if not isinstance(part, exp.Query)]
    arms = [part for child in children if isinstance(child, exp.If) for part in child.iter_expressions()]
    return [*(child for child in children if not isinstance(child, exp.If)), *arms]


_CONDITIONAL = (exp.And, exp.Or, exp.In, exp.Between, exp.Case, exp.Coalesce, exp.Nullif)

HANDLERS: dict[type[Any], Handler] = {
    **subqueries.SHARED,
    **{node: cautious(subqueries.SHARED[node]) for node in _CONDITIONAL},
    exp.Column: column,
    exp.Literal: literal,
    exp.Boolean: boolean,
    **dict.fromkeys(_INTEGERS, arithmetic),
    exp.Neg: _signed(operator.neg),
    exp.Abs: _signed(abs),
    exp.Greatest: _extreme(operator.gt),
    exp.Least: _extreme(operator.lt),
    exp.Nullif: cautious(nullif),
    exp.Subquery: scalar,
    exp.Like: like,
    exp.DPipe: pipes,
    exp.Length: length,
    exp.Upper: _mapped(str.upper),
    exp.Lower: _mapped(str.lower),
    exp.Substring: substring,
}
