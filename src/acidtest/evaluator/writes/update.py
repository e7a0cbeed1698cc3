"""UPDATE and DELETE of one table."""

from collections.abc import Sequence

from acidtest.evaluator.code import Fn
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.effect import Change, Effect, RowId, Run
from acidtest.evaluator.writes.following import follow
from acidtest.evaluator.writes.keys import collisions
from acidtest.evaluator.writes.limiting import Limited, limit_of
from acidtest.evaluator.writes.returning import Returning
from acidtest.evaluator.writes.target import Target, joined
from acidtest.evaluator.writes.values import assignments_of, differ
from acidtest.model import ErrorKind, Row
from acidtest.sql.shape import Shape


class _Change:
    """What UPDATE and DELETE share: finding rows, and what foreign keys make of their changes."""

    def __init__(self, shape: Shape, target: Target, compiler: Compiler, test: Fn) -> None:
        self._target = target
        self._test = test
        self._limit: Limited | None = limit_of(shape, compiler)
        self._returning = Returning.of(shape.tree, lambda: compiler)

    def _matching(self, run: Run, runtime: Runtime, errors: set[ErrorKind]) -> list[tuple[RowId, Row]]:
        """The rows that are written; `errors` gets what the condition fails with on some row."""
        found = []
        for row, values in run.work:
            try:
                if self._test(joined(runtime, values)):
                    found.append((row, values))
            except EvaluationError as error:
                errors.add(error.kind)
        if self._limit is None:
            return found
        if errors:
            raise Unknown("an error in a row that LIMIT may leave out")
        return self._limit.chosen(found, runtime)

    def _effect(
        self,
        run: Run,
        matched: Sequence[tuple[RowId, Row]],
        new: Sequence[Row | None],
        count: int,
        may_fail: frozenset[ErrorKind],
        returned: tuple[Row, ...] | None,
    ) -> Effect:
        """The effect of a statement that breaks no rule of the table itself."""
        changes = [Change(row, values) for (row, _), values in zip(matched, new, strict=True)]
        worked_on = tuple(row for row, _ in matched)
        after = follow(self._target, run, changes, run.existing)
        if after.errors:
            return Effect(worked_on=worked_on, errors=frozenset(after.errors) | may_fail)
        return Effect(
            (*changes, *after.changes),
            worked_on,
            frozenset({count}),
            may_fail=may_fail,
            returned=returned,
            touched=tuple(after.touched),
            referenced=tuple(dict.fromkeys(after.referenced)),
        )


class Delete(_Change):
    """DELETE FROM one table."""

    def run(self, run: Run) -> Effect:
        """The effect on the rows of a run."""
        errors: set[ErrorKind] = set()
        runtime = Runtime(run.views)
        matched = self._matching(run, runtime, errors)
        if errors:
            return Effect(errors=frozenset(errors))
        returned = self._returning.rows(runtime, [row for _, row in matched])
        return self._effect(run, matched, [None] * len(matched), len(matched), frozenset(), returned)


class Update(_Change):
    """UPDATE of one table."""

    def __init__(
        self, shape: Shape, target: Target, compiler: Compiler, test: Fn, doubts_order: bool
    ) -> None:
        super().__init__(shape, target, compiler, test)
        self._set = assignments_of(shape.tree.expressions, target, compiler)
        self._doubts_order = doubts_order
        """Whether assignments may see those to their left or not."""

    def run(self, run: Run) -> Effect:
        """The effect on the rows of a run."""
        errors: set[ErrorKind] = set()
        runtime = Runtime(run.views)
        matched = self._matching(run, runtime, errors)
        written: list[tuple[RowId, Row]] = []
        new: list[Row] = []
        for row, values in matched:
            try:
                new.append(self._assigned(values, runtime))
                written.append((row, values))
            except EvaluationError as error:
                errors.add(error.kind)
        changes = [Change(row, values) for (row, _), values in zip(written, new, strict=True)]
        duplicate, may_fail = collisions(self._target.unique, run.existing, changes)
        if errors or duplicate:
            if self._target.dialect.writing.references_at_once:
                errors |= follow(self._target, run, changes, run.existing).errors
            return Effect(errors=frozenset(errors) | duplicate | (may_fail if errors else frozenset()))
        counts_changes = self._target.dialect.writing.counts_changes
        changed = sum(differ(old, one) for (_, old), one in zip(matched, new, strict=True))
        count = changed if counts_changes else len(matched)
        returned = self._returning.rows(runtime, new)
        return self._effect(run, matched, new, count, may_fail, returned)

    def _assigned(self, values: Row, runtime: Runtime) -> Row:
        row = self._target.rules.finished(self._set.apply(values, (runtime,)))
        if self._doubts_order:
            other = type(self._set)(self._set.parts, not self._set.in_sequence)
            if differ(row, self._target.rules.finished(other.apply(values, (runtime,)))):
                raise Unknown("assignments that build on each other beside a subquery")
        return row
