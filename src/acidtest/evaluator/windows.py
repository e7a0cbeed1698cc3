"""Window functions: for each row an answer over the rows of its partition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, Convert, Fn, JoinedRow
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.ordering import OrderItem, in_order, order_item
from acidtest.evaluator.types import SqlType

Ties = list[list[JoinedRow]]
"""A partition in order, as groups of rows that the order does not tell apart."""

Answer = Callable[[Ties], list[Any]]
"""From a partition to one answer for each row, in the same order."""


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A compiled window function."""

    type: SqlType
    partition: list[tuple[Fn, Convert]]
    order: list[OrderItem]
    answer: Answer

    def extend(self, rows: Sequence[JoinedRow]) -> list[JoinedRow]:
        """The rows, each with its answer in one more slot."""
        partitions: dict[Any, list[int]] = {}
        for at, row in enumerate(rows):
            partitions.setdefault(self._key(row), []).append(at)
        answers: dict[int, Any] = {}
        for members in partitions.values():
            groups = [ties for _, ties in in_order(self.order, [(rows[at], at) for at in members])]
            found = self.answer([[rows[at] for at in ties] for ties in groups])
            answers.update(zip((at for ties in groups for at in ties), found, strict=True))
        return [(*row, answers[at]) for at, row in enumerate(rows)]

    def _key(self, row: JoinedRow) -> tuple[Any, ...]:
        values = ((fn(row), key) for fn, key in self.partition)
        return tuple(None if value is None else (key(value),) for value, key in values)


def compile_window(
    compiler: Compiler, node: exp.Window, named: Mapping[str, exp.Expression]
) -> WindowFunction:
    """A window function; frames other than the default and ROWS of whole partitions are not modelled."""
    compiler.dialect.require("window functions")
    definition: exp.Expression = node
    alias = node.args.get("alias")
    if alias is not None:
        definition = named.get(str(alias.this)) or node
        if node.args.get("partition_by") or node.args.get("order"):
            raise Unknown("a window that refines a named one")
    codes = compiler.all(definition.args.get("partition_by") or [])
    clause = definition.args.get("order")
    order = [
        order_item(compiler, item, compiler.compile(item.this))
        for item in (clause.expressions if clause else ())
    ]
    if definition.args.get("spec") is not None:
        raise Unknown("window frames")
    type_, answer = _function(compiler, node.this, ordered=bool(order))
    keys = [(code.fn, compiler.dialect.key(code.type, ordering=False)) for code in codes]
    return WindowFunction(type_, keys, order, answer)


def _function(compiler: Compiler, node: exp.Expression, *, ordered: bool) -> tuple[SqlType, Answer]:
    if isinstance(node, exp.RowNumber):
        return compiler.dialect.rank_type, _row_number
    if isinstance(node, exp.Rank):
        return compiler.dialect.rank_type, _rank
    if isinstance(node, exp.DenseRank):
        return compiler.dialect.rank_type, _dense_rank
    if isinstance(node, exp.Lag | exp.Lead):
        return _shifted(compiler, node)
    if isinstance(node, exp.AggFunc):
        return _running(compiler, node, ordered=ordered)
    raise Unknown(f"window function {node.key}")


def _row_number(groups: Ties) -> list[Any]:
    if any(len(ties) > 1 for ties in groups):
        raise Unknown("ROW_NUMBER of rows that the order does not tell apart")
    return list(range(1, len(groups) + 1))


def _rank(groups: Ties) -> list[Any]:
    answers: list[int] = []
    for ties in groups:
        answers.extend([len(answers) + 1] * len(ties))
    return answers


def _dense_rank(groups: Ties) -> list[Any]:
    return [rank for rank, ties in enumerate(groups, 1) for _ in ties]


def _shifted(compiler: Compiler, node: exp.Expression) -> tuple[SqlType, Answer]:
    offset_node = node.args.get("offset")
    offset_code = compiler.compile(offset_node) if offset_node is not None else None
    offset = 1 if offset_code is None else offset_code.fn(()) if offset_code.constant else None
    if not isinstance(offset, int) or offset < 0:
        raise Unknown("LAG and LEAD by anything but a constant")
    value = compiler.compile(node.this)
    default_node = node.args.get("default")
    codes: list[Code] = [value] if default_node is None else [value, compiler.compile(default_node)]
    type_, unified = compiler.dialect.unify(compiler, codes)
    fn = unified[0].fn
    default = unified[1].fn if len(unified) > 1 else _null
    step = -offset if isinstance(node, exp.Lag) else offset

    def answer(groups: Ties) -> list[Any]:
        if any(len(ties) > 1 for ties in groups):
            raise Unknown("LAG and LEAD over rows that the order does not tell apart")
        rows = [row for ties in groups for row in ties]
        return [
            fn(rows[at + step]) if 0 <= at + step < len(rows) else default(row) for at, row in enumerate(rows)
        ]

    return type_, answer


def _null(_row: JoinedRow) -> None:
    return None


def _running(compiler: Compiler, node: exp.Expression, *, ordered: bool) -> tuple[SqlType, Answer]:
    if isinstance(node.this, exp.Distinct):
        raise Unknown("DISTINCT in a window function")
    aggregate = compiler.dialect.aggregate(compiler, node)

    def answer(groups: Ties) -> list[Any]:
        # The default frame ends with the last row that the order does not tell apart from this one.
        frames = groups if ordered else [[row for ties in groups for row in ties]]
        collected: list[Any] = []
        answers: list[Any] = []
        for ties in frames:
            collected.extend(value for value in map(aggregate.collect, ties) if value is not None)
            answers.extend([aggregate.finish(list(collected))] * len(ties))
        return answers

    return aggregate.type, answer
