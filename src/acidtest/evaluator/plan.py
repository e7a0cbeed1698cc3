"""A compiled query."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from acidtest.evaluator.code import JoinedRow
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.result import Block
from acidtest.evaluator.types import SqlType
from acidtest.model import Row


@dataclass(slots=True)
class Plan:
    """Runs on the joined row of the enclosing query (slot 0: the runtime) and gives blocks of rows."""

    columns: tuple[str, ...]
    types: tuple[SqlType, ...]
    blocks: Callable[[JoinedRow], tuple[Block, ...]]
    correlated: bool
    fails: bool
    base_width: int
    matches: Callable[[JoinedRow], list[dict[str, int | None]]] | None = None
    """Which rows of which base tables the query is made of, for queries that do not group."""

    identity: object = field(default_factory=object)

    def rows(self, row: JoinedRow) -> tuple[Row, ...]:
        """The rows of a subquery, computed once in a run if they do not depend on the enclosing row."""
        if self.correlated:
            return self._determined(row)
        cache: dict[object, Any] = row[0].cache
        if self.identity not in cache:
            cache[self.identity] = self._determined(row)
        found: tuple[Row, ...] = cache[self.identity]
        return found

    def exists(self, row: JoinedRow) -> bool:
        """Whether there is a row, whichever it is."""
        return any(block.take for block in self._evaluated(row))

    def _evaluated(self, row: JoinedRow) -> tuple[Block, ...]:
        try:
            return self.blocks(row[: self.base_width])
        except EvaluationError as error:
            raise Unknown("an error in a subquery that the plan may avoid") from error

    def _determined(self, row: JoinedRow) -> tuple[Row, ...]:
        blocks = self._evaluated(row)
        if not all(block.determined for block in blocks):
            raise Unknown("a LIMIT in a subquery that cuts through ties")
        return tuple(found for block in blocks for found in block.rows[: block.take])
