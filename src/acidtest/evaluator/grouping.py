"""GROUP BY and aggregates: from joined rows to one row for each group."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.scope import Field
from acidtest.model import ErrorKind

_NESTED = (exp.Select, exp.SetOperation, exp.Subquery)


def aggregates_in(nodes: Sequence[exp.Expression]) -> list[exp.Expression]:
    """Aggregates that belong to this query: not those of subqueries, nor window functions themselves."""
    found: dict[exp.Expression, None] = {}
    for node in nodes:
        for part in _own_parts(node):
            wrapped = isinstance(part.parent, exp.Filter) and part.arg_key == "this"
            if _is_aggregate(part) and not _is_windowed(part) and not wrapped:
                found[part] = None
    return list(found)


def windows_in(nodes: Sequence[exp.Expression]) -> list[exp.Window]:
    """Window functions that belong to this query."""
    found = (part for node in nodes for part in _own_parts(node) if isinstance(part, exp.Window))
    return list(dict.fromkeys(found))


def _own_parts(node: exp.Expression) -> Iterator[exp.Expression]:
    yield node
    for child in node.iter_expressions():
        if not isinstance(child, _NESTED):
            yield from _own_parts(child)


def _is_aggregate(node: exp.Expression) -> bool:
    if isinstance(node, exp.Filter):
        return not isinstance(node.parent, exp.Window)
    return isinstance(node, exp.AggFunc) and not isinstance(node, exp.Lag | exp.Lead)


def _is_windowed(node: exp.Expression) -> bool:
    return isinstance(node.parent, exp.Window) and node.arg_key == "this"


@dataclass(slots=True)
class Grouping:
    """Compiled GROUP BY: how to tell groups apart and what to add to each one's first row."""

    keys: list[tuple[Fn, Convert]]
    expressions: list[Fn]
    aggregates: list[Aggregate]
    explicit: bool
    gap: JoinedRow
    watched: set[int]

    def rows(self, base: JoinedRow, rows: Sequence[JoinedRow]) -> list[JoinedRow]:
        """One row for each group: its first row, its grouping expressions, its aggregates."""
        groups: dict[Any, list[JoinedRow]] = {}
        for row in rows:
            groups.setdefault(self._key(row), []).append(row)
        if not groups and not self.explicit:
            groups[()] = []
        return [self._summary(base, members) for members in groups.values()]

    def _key(self, row: JoinedRow) -> tuple[Any, ...]:
        values = ((fn(row), key) for fn, key in self.keys)
        return tuple(None if value is None else (key(value),) for value, key in values)

    def _summary(self, base: JoinedRow, members: list[JoinedRow]) -> JoinedRow:
        first = members[0] if members else base + self.gap
        for slot in self.watched:
            if any(repr(row[slot]) != repr(first[slot]) for row in members):
                raise Unknown("a column that its group does not determine")
        shown = tuple(_shared(fn, members) for fn in self.expressions)
        return first + shown + tuple(_summarised(aggregate, members) for aggregate in self.aggregates)


def _shared(fn: Fn, members: Sequence[JoinedRow]) -> Any:
    values = [fn(row) for row in members]
    if any(repr(value) != repr(values[0]) for value in values):
        raise Unknown("which of several equal values stands for its group")
    return values[0] if values else None


def _summarised(aggregate: Aggregate, members: Sequence[JoinedRow]) -> Any:
    values = (aggregate.collect(row) for row in members)
    return aggregate.finish([value for value in values if value is not None])


def compile_grouping(
    compiler: Compiler,
    group_by: Sequence[exp.Expression],
    aggregates: Sequence[exp.Expression],
    base_width: int,
) -> Grouping:
    """Compile GROUP BY and the aggregates; afterwards the compiler finds both in their slots."""
    scope, dialect = compiler.scope, compiler.dialect
    codes = compiler.all(group_by)
    compiled = [_own_aggregate(compiler, node) for node in aggregates]
    width = scope.width
    grouping = Grouping(
        keys=[(code.fn, dialect.key(code.type, ordering=False)) for code in codes],
        expressions=[code.fn for code in codes],
        aggregates=compiled,
        explicit=bool(group_by),
        gap=(None,) * (width - base_width),
        watched=set(),
    )
    types = [code.type for code in codes] + [aggregate.type for aggregate in compiled]
    fails = [code.fails for code in codes] + [aggregate.fails for aggregate in compiled]
    for at, node in enumerate((*group_by, *aggregates)):
        compiler.slots[node] = Code(types[at], _slot(width + at), fails=fails[at])
    grouped = {_column_slot(compiler, node) for node in group_by if isinstance(node, exp.Column)}
    scope.width = width + len(group_by) + len(aggregates)
    scope.visit = _watcher(compiler, grouping, grouped)
    return grouping


def _column_slot(compiler: Compiler, node: exp.Column) -> int:
    table = node.args.get("table")
    dialect = compiler.dialect
    return compiler.scope.find(
        dialect.fold_name(node.this), dialect.fold_table(table) if table else None
    ).slot


def _slot(at: int) -> Fn:
    return lambda row: row[at]


def _watcher(compiler: Compiler, grouping: Grouping, grouped: set[int]) -> Callable[[Field], None]:
    """Told of each column that is read outside aggregates: it must be the same in all rows of a group."""
    by_key = {
        field.slot
        for source in compiler.scope.sources
        if source.key_slots and source.key_slots <= grouped
        for field in source.fields
    }

    def visit(field: Field) -> None:
        if field.slot in by_key:
            return
        if field.slot not in grouped:
            compiler.dialect.ungrouped(field.name)
        grouping.watched.add(field.slot)

    return visit


def _own_aggregate(compiler: Compiler, node: exp.Expression) -> Aggregate:
    scope = compiler.scope
    condition: Fn | None = None
    function = node
    if isinstance(node, exp.Filter):
        function = node.this
        condition = compiler.condition(node.expression.this)
    if any(_is_aggregate(part) for part in _own_parts(function) if part is not function):
        raise EvaluationError(ErrorKind.SYNTAX, "nested aggregates")
    seen: list[Field] = []
    used_before, scope.visit, scope.outer_used = scope.outer_used, seen.append, False
    try:
        aggregate = compiler.dialect.aggregate(compiler, function)
    finally:
        used, scope.visit = scope.outer_used, None
        scope.outer_used = used or used_before
    if used and not seen:
        raise Unknown("aggregates that belong to an enclosing query")
    return aggregate if condition is None else _filtered(aggregate, condition)


def _filtered(aggregate: Aggregate, condition: Fn) -> Aggregate:
    collect = aggregate.collect
    return Aggregate(
        aggregate.type,
        lambda row: collect(row) if condition(row) is True else None,
        aggregate.finish,
        aggregate.fails,
    )
