"""MERGE: for each row of a source, the first clause that fits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.filters import compile_condition
from acidtest.evaluator.query import compile_beside
from acidtest.evaluator.relations import compile_from
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.defaults import default_of
from acidtest.evaluator.writes.effect import Change, Effect, RowId, Run
from acidtest.evaluator.writes.following import follow
from acidtest.evaluator.writes.keys import collisions
from acidtest.evaluator.writes.target import Target, empty_scope
from acidtest.evaluator.writes.values import Assignments, assignments_of, is_default
from acidtest.model import ErrorKind, Row
from acidtest.sql.shape import Shape

_Action = Callable[[JoinedRow], Row | None]
"""From a joined row to the row that is stored, or None to delete."""


@dataclass(frozen=True, slots=True)
class _When:
    """A WHEN clause; without an action it does nothing."""

    matched: bool
    by_source: bool
    test: Fn | None
    action: _Action | None


class Merge:
    """A compiled MERGE. Its joined rows are the target's columns and then the source's."""

    def __init__(self, shape: Shape, target: Target) -> None:
        tree = shape.tree
        if tree.args.get("using_cond") or tree.args.get("with_"):
            raise Unknown("MERGE with USING columns or WITH")
        self._target = target
        compiler = empty_scope(target.schema, target.dialect)
        compiler.written = frozenset({target.name})
        join = exp.Join(this=tree.args["using"].copy(), kind="CROSS")
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree.this.copy()), joins=[join])
        self._relation = compile_from(compiler, query, compile_beside)
        self._width = len(target.table.columns) + 1
        sources = empty_scope(target.schema, target.dialect)
        source = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree.args["using"].copy()))
        self._source = compile_from(sources, source, compile_beside)
        self._on = compile_condition(compiler, tree.args["on"], simple=False).test
        self._whens = [self._when(one, compiler) for one in tree.args["whens"].expressions]
        if tree.args.get("returning"):
            raise Unknown("RETURNING of MERGE")
        compiler.finish()

    def _when(self, node: exp.Expression, compiler: Compiler) -> _When:
        condition = node.args.get("condition")
        test = compile_condition(compiler, condition, simple=False).test if condition is not None else None
        return _When(
            bool(node.args.get("matched")),
            bool(node.args.get("source")),
            test,
            self._action(node.args["then"], compiler),
        )

    def _action(self, node: exp.Expression, compiler: Compiler) -> _Action | None:
        if isinstance(node, exp.Var):
            words = str(node.this).upper()
            if words == "DELETE":
                return lambda _row: None
            if words == "DO NOTHING":
                return None
            raise Unknown(f"MERGE .. {words}")
        if isinstance(node, exp.Update):
            return self._update(assignments_of(node.expressions, self._target, compiler))
        if isinstance(node, exp.Insert):
            return self._insert(node, compiler)
        raise Unknown(f"MERGE .. {node.key}")

    def _update(self, assignments: Assignments) -> _Action:
        width = self._width

        def new(row: JoinedRow) -> Row:
            return self._target.rules.finished(assignments.apply(row[1:width], row[:1], row[width:]))

        return new

    def _insert(self, node: exp.Insert, compiler: Compiler) -> _Action:
        target = self._target
        named = node.this.expressions if isinstance(node.this, exp.Tuple) else []
        positions = [target.position(one.this) for one in named] or list(range(len(target.table.columns)))
        values = node.expression.expressions if node.expression is not None else []
        if len(values) != len(positions):
            raise Unknown("MERGE .. INSERT of another number of values")
        cells: dict[int, Fn] = {}
        for position, value in zip(positions, values, strict=True):
            column = target.table.columns[position]
            if column.auto_increment:
                raise Unknown("the next automatic number")
            if not is_default(value):
                code = compiler.compile(value)
                cells[position] = target.dialect.store(compiler, target.column(position), code)

        def new(row: JoinedRow) -> Row:
            return target.rules.finished(tuple(self._cell(at, cells, row) for at in range(self._width - 1)))

        return new

    def _cell(self, at: int, cells: dict[int, Fn], row: JoinedRow) -> Any:
        column = self._target.table.columns[at]
        if at in cells:
            return cells[at](row)
        if column.auto_increment:
            raise Unknown("the next automatic number")
        return None if column.generated else default_of(column, self._target.table, self._target.dialect)

    def run(self, run: Run) -> Effect:
        """The effect on the rows of a run."""
        work = {self._target.name: [values for _, values in run.work]}
        runtime = Runtime(run.views, work=work)
        changes: dict[RowId, Row | None] = {}
        new: list[Row] = []
        kinds: set[ErrorKind] = set()
        for row, joined in self._pairs(runtime, run):
            when = self._first(joined, matched=row is not None, by_source=len(joined) == self._width)
            if when is None or when.action is None:
                continue
            try:
                values = when.action(joined)
            except EvaluationError as error:
                kinds.add(error.kind)
                continue
            if row is None:
                assert values is not None
                new.append(values)
            elif row in changes:
                kinds.add(ErrorKind.BAD_VALUE)  # "cannot affect row a second time", 21000
            else:
                changes[row] = values
        if kinds and self._target.dialect.writing.checks_together:
            raise Unknown("which of several errors of a MERGE comes first")
        found = [Change(row, values) for row, values in changes.items()]
        found += [Change(None, values) for values in new]
        errors, may_fail = collisions(self._target.unique, run.existing, found)
        if errors or kinds:
            return Effect(errors=frozenset(kinds) | errors | may_fail)
        after = follow(self._target, run, found, run.existing)
        if after.errors:
            return Effect(errors=frozenset(after.errors) | may_fail)
        return Effect(
            (*found, *after.changes),
            tuple(changes),
            frozenset({len(found)}),
            may_fail=may_fail,
            touched=tuple(after.touched),
            referenced=tuple(dict.fromkeys(after.referenced)),
        )

    def _pairs(self, runtime: Runtime, run: Run) -> list[tuple[RowId | None, JoinedRow]]:
        """Each row of the source with its partners, those without one, and rows that no source row met."""
        gap = (None,) * self._width
        rows = list(self._relation.rows((runtime,)))
        sources = self._source.rows((runtime,))
        size = len(sources)
        found: list[tuple[RowId | None, JoinedRow]] = []
        met: set[int] = set()
        lonely = [True] * size
        for number, row in enumerate(rows):
            if self._on is None or self._on(row) is True:
                at = row[self._width]
                met.add(at)
                lonely[number % size] = False
                found.append((run.work[at][0], row))
        for at, source in enumerate(sources):
            if lonely[at]:
                found.append((None, (runtime, *gap, *source[1:])))
        found += [(row, (runtime, *values)) for at, (row, values) in enumerate(run.work) if at not in met]
        return found

    def _first(self, row: JoinedRow, *, matched: bool, by_source: bool) -> _When | None:
        for when in self._whens:
            if by_source:
                fits = when.by_source and not when.matched
            else:
                fits = when.matched == matched and not when.by_source
            if fits and (when.test is None or when.test(row) is True):
                return when
        return None
