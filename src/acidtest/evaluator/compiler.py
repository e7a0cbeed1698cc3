"""From a sqlglot expression to closures."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Fn, unsure
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.scope import Scope
from acidtest.model import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acidtest.evaluator.dialect import Dialect, Handler
    from acidtest.evaluator.plan import Plan


class Compiler:
    """Compiles the expressions of one query. `writes`: the statement is an INSERT, UPDATE or DELETE, where
    MySQL's strict mode turns warnings into errors."""

    def __init__(
        self,
        dialect: "Dialect",
        catalog: Schema,
        scope: Scope,
        *,
        writes: bool = False,
        plans: "dict[str, Plan] | None" = None,
        doomed: list[EvaluationError] | None = None,
    ) -> None:
        self.dialect = dialect
        self.catalog = catalog
        self.scope = scope
        self.writes = writes
        self.plans = plans or {}  # common table expressions by name
        self.written: frozenset[str] = frozenset()  # sources whose rows come with each run
        self.functions: dict[str, Handler] = {}  # those of this statement alone, by name in capitals
        self.slots: dict[exp.Expression, Code] = {}  # aggregates and windows of this query, by tree
        self.folds = True
        self.doomed: list[EvaluationError] = [] if doomed is None else doomed

    def compile(self, node: exp.Expression) -> Code:
        """The code of an expression; raises `Unknown`, or `EvaluationError` if the DBMS refuses it unseen."""
        known = self.slots.get(node)
        if known is not None:
            return known
        handler = self.dialect.handlers.get(type(node))
        if handler is None and isinstance(node, exp.Anonymous):
            name = str(node.this).upper()
            handler = self.functions.get(name) or self.dialect.functions.get(name)
        if handler is None:
            raise Unknown(f"{_name(node)} in {self.dialect.name}")
        return self.folded(handler(self, node))

    def all(self, nodes: Sequence[exp.Expression]) -> list[Code]:
        """The codes of several expressions."""
        return [self.compile(node) for node in nodes]

    def condition(self, node: exp.Expression) -> Fn:
        """An expression as True, False or None."""
        return self.truth(self.compile(node))

    def truth(self, code: Code) -> Fn:
        """A code as True, False or None."""
        return self.dialect.truth(self, code)

    def compare(self, left: Code, right: Code, test: Callable[[Any, Any], bool], *, ordering: bool) -> Code:
        """A comparison that is NULL if an operand is."""
        one, two = self.dialect.comparables(self, (left, right), ordering=ordering)
        compared = self.dialect.strict(one.type, test, one, two)
        return self.folded(self.dialect.logical(compared.fn, compared))

    def equal(self, left: Code, right: Code) -> Code:
        """SQL's `=`."""
        return self.compare(left, right, _same, ordering=False)

    def finish(self) -> None:
        """Raise the error that the DBMS meets in a constant, once the whole statement has been understood."""
        if self.doomed:
            raise self.doomed[0]

    @contextmanager
    def dead_code(self, dead: bool) -> "Iterator[None]":
        """Compile what is never evaluated: errors in its constants do not count."""
        before = self.folds
        self.folds = before and not dead
        try:
            yield
        finally:
            self.folds = before

    def folded(self, code: Code) -> Code:
        """A constant evaluated once; an error in it dooms the statement where constants come first."""
        if not code.constant or code.literal:
            return code
        try:
            value = code.fn(())
        except EvaluationError as error:
            if self.dialect.folds_constants and self.folds:
                self.doomed.append(error)
            # In a strict write it depends on when the constant is computed whether the error is raised.
            return (
                replace(code, fn=unsure(code.fn))
                if self.writes and not self.dialect.folds_constants
                else code
            )
        except Unknown:
            return code
        return constant_code(code.type, value)


def _same(left: Any, right: Any) -> bool:
    return bool(left == right)


def _name(node: exp.Expression) -> str:
    return str(node.this) if isinstance(node, exp.Anonymous) else node.key
