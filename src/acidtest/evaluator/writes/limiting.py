"""ORDER BY and LIMIT in UPDATE and DELETE."""

from collections.abc import Sequence
from dataclasses import dataclass

from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.ordering import OrderItem, constant_count, in_order, order_item
from acidtest.evaluator.scope import Runtime
from acidtest.evaluator.writes.effect import RowId
from acidtest.evaluator.writes.target import joined
from acidtest.model import Row
from acidtest.sql.shape import Shape


@dataclass(frozen=True, slots=True)
class Limited:
    """The first rows in an order; without an order, any."""

    order: tuple[OrderItem, ...]
    limit: int | None

    def chosen(self, rows: Sequence[tuple[RowId, Row]], runtime: Runtime) -> list[tuple[RowId, Row]]:
        """The rows that are taken; `Unknown` if that is left open."""
        if self.limit is None or self.limit >= len(rows):
            return list(rows)
        taken: list[tuple[RowId, Row]] = []
        for _, ties in in_order(self.order, [(joined(runtime, row), (at, row)) for at, row in rows]):
            if len(taken) + len(ties) > self.limit > len(taken):
                raise Unknown("a write with LIMIT: which rows it takes is left open")
            if len(taken) < self.limit:
                taken += ties
        return taken


def limit_of(shape: Shape, compiler: Compiler) -> Limited | None:
    """The ORDER BY and LIMIT of a write; None if it has none."""
    order, limit = shape.tree.args.get("order"), shape.tree.args.get("limit")
    if order is None and limit is None:
        return None
    items = tuple(
        order_item(compiler, one, compiler.compile(one.this))
        for one in (order.expressions if order is not None else ())
    )
    return Limited(items, constant_count(compiler, limit))
