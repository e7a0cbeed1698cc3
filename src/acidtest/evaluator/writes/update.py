"""UPDATE and DELETE."""

from acidtest.evaluator.api import (
    CompiledExpression,
    Views,
)
from acidtest.evaluator.dialect import Dialect
from acidtest.evaluator.errors import EvaluationError
from acidtest.evaluator.writes.effect import Change, Effect, RowId, Run, UniqueIndex
from acidtest.evaluator.writes.keys import collisions
from acidtest.evaluator.writes.values import COUNTS_CHANGES, assign, assignments_of, differ
from acidtest.model import Row, Schema, Table
from acidtest.sql.shape import Shape


class Delete:
    def __init__(self, predicate: CompiledExpression) -> None:
        self._predicate = predicate

    def run(self, run: Run) -> Effect:
        try:
            matched = matching(self._predicate, run)
        except EvaluationError as error:
            return Effect(errors=frozenset({error.kind}))
        rows = tuple(row for row, _ in matched)
        return Effect(tuple(Change(row, None) for row in rows), rows, frozenset({len(rows)}))


class Update:
    def __init__(
        self,
        shape: Shape,
        table: Table,
        schema: Schema,
        dialect: Dialect,
        unique: tuple[UniqueIndex, ...],
        predicate: CompiledExpression,
    ) -> None:
        self._predicate = predicate
        self._unique = unique
        self._mysql = dialect.name in COUNTS_CHANGES
        self._set = assignments_of(shape.tree.expressions, table, schema, dialect, shape.alias)

    def run(self, run: Run) -> Effect:
        try:
            matched = matching(self._predicate, run)
            changed = [(row, values, self._assign(values, run.views)) for row, values in matched]
        except EvaluationError as error:
            return Effect(errors=frozenset({error.kind}))
        changes = tuple(Change(row, new) for row, _, new in changed)
        count = sum(differ(old, new) for _, old, new in changed) if self._mysql else len(changed)
        errors, may_fail = collisions(self._unique, run.existing, changes)
        return Effect(changes, tuple(row for row, _ in matched), frozenset({count}), errors, may_fail)

    def _assign(self, values: Row, views: Views) -> Row:
        return assign(self._set, values, views, in_sequence=self._mysql)


def matching(predicate: CompiledExpression, run: Run) -> list[tuple[RowId, Row]]:
    test = predicate.bind(run.views)
    return [(row, values) for row, values in run.work if test(values)]
