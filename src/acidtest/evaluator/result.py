"""The answer to a query, with exactly as much order as the query determines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from acidtest.model import Row, typed_row


@dataclass(frozen=True, slots=True)
class Block:
    """`take` of these rows come next, in any order."""

    rows: tuple[Row, ...]
    take: int

    @property
    def determined(self) -> bool:
        """Whether it is certain which rows come."""
        return self.take == len(self.rows) or len(set(self.rows)) == 1


@dataclass(frozen=True, slots=True)
class Result:
    """Column names and blocks of rows: one block without ORDER BY, one for each group of ties with it.

    A name is empty where the DBMS makes one up from the text of the expression.
    """

    columns: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in one of the admitted orders."""
        return tuple(row for block in self.blocks for row in block.rows[: block.take])

    @property
    def determined(self) -> bool:
        """Whether the multiset of rows is certain (a LIMIT may cut through ties)."""
        return all(block.determined for block in self.blocks)

    @property
    def ordered(self) -> bool:
        """Whether one sequence of rows is the only right one."""
        return self.determined and all(len(set(block.rows)) <= 1 for block in self.blocks)

    def admits(self, observed: Sequence[Row]) -> bool:
        """Whether the DBMS may answer with this sequence of rows."""
        if len(observed) != sum(block.take for block in self.blocks):
            return False
        slices = self._slices(observed)
        return all(_is_part(part, block.rows) for part, block in zip(slices, self.blocks, strict=True))

    def _slices(self, observed: Sequence[Row]) -> Iterator[Sequence[Row]]:
        start = 0
        for block in self.blocks:
            yield observed[start : start + block.take]
            start += block.take


def _is_part(part: Iterable[Row], whole: Iterable[Row]) -> bool:
    return Counter(map(typed_row, part)) <= Counter(map(typed_row, whole))


def limited(blocks: Iterable[tuple[Row, ...]], offset: int, limit: int | None) -> tuple[Block, ...]:
    """Cut blocks of ties by OFFSET and LIMIT; a block cut by both ends keeps all its candidates."""
    kept: list[Block] = []
    skip, left = offset, limit
    for rows in blocks:
        available = max(len(rows) - skip, 0)
        skip = max(skip - len(rows), 0)
        take = available if left is None else min(available, left)
        if left is not None:
            left -= take
        if take:
            kept.append(Block(rows, take))
    return tuple(kept)
