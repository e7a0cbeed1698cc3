"""A compiled expression."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.types import SqlType

JoinedRow = tuple[Any, ...]
"""Slot 0 holds the `Runtime`; then the columns of the enclosing queries and of the FROM clause, in order."""

Fn = Callable[[JoinedRow], Any]
Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Code:
    """A static type and a function from a joined row to a value (None is NULL).

    `constant`: does not look at the row. `column`: is a bare column. `literal`: stood in the text as such.
    `fails`: may raise an `EvaluationError`.
    """

    type: SqlType
    fn: Fn
    constant: bool = False
    column: bool = False
    literal: bool = False
    fails: bool = False

    def typed(self, type_: SqlType) -> "Code":
        """The same values under another type."""
        return replace(self, type=type_, column=False, literal=False)

    def then(self, type_: SqlType, convert: Convert, *, fails: bool = False) -> "Code":
        """Convert every value that is not NULL."""
        inner = self.fn

        def converted(row: JoinedRow) -> Any:
            value = inner(row)
            return None if value is None else convert(value)

        return Code(type_, converted, constant=self.constant, fails=self.fails or fails)


def constant(type_: SqlType, value: Any, *, literal: bool = False) -> Code:
    """A value that never changes."""
    return Code(type_, lambda _row: value, constant=True, literal=literal)


def strict(type_: SqlType, operate: Callable[..., Any], *codes: Code, fails: bool = False) -> Code:
    """Apply a function to operands; NULL if any of them is. All operands are evaluated first, unless one is
    a constant NULL."""
    if any(code.constant and not code.fails and code.fn(()) is None for code in codes):
        return constant(type_, None)
    return _applied(type_, operate, codes, _strict_many, fails)


def unsure_strict(type_: SqlType, operate: Callable[..., Any], *codes: Code, fails: bool = False) -> Code:
    """The same where it is not known whether an error or a NULL comes first: an operand that fails beside one
    that is NULL is `Unknown`."""
    return _applied(type_, operate, codes, _unsure_many, fails)


def _applied(
    type_: SqlType,
    operate: Callable[..., Any],
    codes: Sequence[Code],
    many: Callable[[Callable[..., Any], list[Fn]], Fn],
    fails: bool,
) -> Code:
    fns = [code.fn for code in codes]
    if len(fns) == 1:
        return codes[0].then(type_, operate, fails=fails)
    lazy = len(fns) == 2 and not any(code.fails for code in codes)
    fn = _strict_two(operate, fns[0], fns[1]) if lazy else many(operate, fns)
    return Code(
        type_,
        fn,
        constant=all(code.constant for code in codes),
        fails=fails or any(code.fails for code in codes),
    )


def _strict_two(operate: Callable[..., Any], first: Fn, second: Fn) -> Fn:
    def apply(row: JoinedRow) -> Any:
        left = first(row)
        if left is None:
            return None
        right = second(row)
        return None if right is None else operate(left, right)

    return apply


def _unsure_many(operate: Callable[..., Any], fns: list[Fn]) -> Fn:
    def apply(row: JoinedRow) -> Any:
        values: list[Any] = []
        failure: EvaluationError | None = None
        for fn in fns:
            try:
                values.append(fn(row))
            except EvaluationError as error:
                failure = failure or error
        if None in values:
            if failure is not None:
                raise Unknown("an error beside a NULL that may hide it") from failure
            return None
        if failure is not None:
            raise failure
        return operate(*values)

    return apply


def _strict_many(operate: Callable[..., Any], fns: list[Fn]) -> Fn:
    def apply(row: JoinedRow) -> Any:
        values = [fn(row) for fn in fns]
        return None if None in values else operate(*values)

    return apply


def unsure(test: Fn) -> Fn:
    """A function whose errors may or may not happen on the server."""

    def careful(row: JoinedRow) -> Any:
        try:
            return test(row)
        except EvaluationError as error:
            raise Unknown("an error in an operand that the plan may avoid") from error

    return careful
