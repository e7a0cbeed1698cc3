"""WHERE: which rows pass, and how sure an error is."""

from dataclasses import dataclass
from typing import cast

from sqlglot import exp

from acidtest.evaluator.code import Fn, JoinedRow, unsure
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.relations import Relation


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled WHERE clause; None lets everything pass."""

    test: Fn | None
    fails: bool


def compile_filter(compiler: Compiler, clause: exp.Expression | None, relation: Relation) -> Filter:
    """The WHERE clause of a query."""
    if clause is None:
        return Filter(None, fails=False)
    return compile_condition(compiler, clause.this, simple=relation.simple)


def compile_condition(compiler: Compiler, node: exp.Expression, *, simple: bool) -> Filter:
    """A condition on rows that the server reads one by one (`simple`) or in a plan of its own choice."""
    code = compiler.compile(node)
    test = compiler.truth(code)
    if not code.fails:
        return Filter(test, fails=False)
    if not simple:
        return Filter(unsure(test), fails=True)
    if compiler.dialect.folds_constants and node.find(exp.Null, exp.In, exp.Between):
        # Conditions that are conjunctions themselves stop at the first part that is FALSE or NULL.
        return Filter(unsure(test), fails=True)
    nodes = [cast(exp.Expression, part) for part in node.flatten()] if isinstance(node, exp.And) else []
    parts = [compiler.condition(part) for part in nodes] or [test]
    return Filter(test if len(parts) == 1 else _all_sure(parts), fails=True)


def _all_sure(parts: list[Fn]) -> Fn:
    """Conjuncts run in an order of the server's choice: an error is sure if no other one excludes the row."""

    def careful(row: JoinedRow) -> bool | None:
        outcome: bool | None = True
        failure: EvaluationError | None = None
        for part in parts:
            try:
                value = part(row)
            except EvaluationError as error:
                failure = error
                continue
            if value is False:
                outcome = False
            elif value is None and outcome is True:
                outcome = None
        if failure is None:
            return outcome
        if outcome is True:
            raise failure
        raise Unknown("an error in a condition that another one may avoid") from failure

    return careful
