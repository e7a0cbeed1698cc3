"""A history after its reads were traced to their writers: what both workloads come to, before any graph."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acidtest.histories.anomalies import Anomaly, Flaw, Key, Link, Observation, Relation
from acidtest.model import Phenomenon

Pair = tuple[Relation, int, int]
Edges = tuple[Sequence[int], Sequence[int]]
"""Sources and targets, side by side."""
INITIAL = -1
"""The writer of what was there from the start."""


@dataclass(slots=True)
class Transactions:
    """The transactions, column by column; their number is their place in the columns.

    In a timed history they stand in the order in which they ended, as far as they did.
    """

    fates: bytearray = field(default_factory=bytearray)
    sessions: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    timed: bool = False

    def __len__(self) -> int:
        return len(self.fates)


@dataclass(frozen=True, slots=True)
class Hub:
    """Every source read a version that every target replaced: sources x targets anti-dependencies."""

    sources: Sequence[int]
    targets: Sequence[int]


@dataclass(frozen=True, slots=True)
class Resolved:
    """Dependencies between transactions, and what was found wrong on the way.

    `taking_part` marks what is committed, or must have been because it was read. `external` gives the reads
    of others' writes in the order of the file, as transactions, keys and writers; `written` the keys that
    each transaction wrote, by its number. `explain` gives the evidence of dependencies. `ordered`: whether
    the order of all versions that were read is known.
    """

    transactions: Transactions
    taking_part: bytearray
    ww: Edges
    wr: Edges
    rw: Edges
    hubs: tuple[Hub, ...]
    anomalies: tuple[Anomaly, ...]
    external: Callable[[], tuple[Sequence[int], Sequence[Any], Sequence[int]]]
    written: Callable[[], Sequence[Sequence[Any]]]
    explain: Callable[[Iterable[Pair]], Mapping[Pair, Link]]
    ordered: bool


class Tally:
    """Collects observations: the first of each name, and how many there were."""

    def __init__(self) -> None:
        self._first: dict[Phenomenon | Flaw, Observation] = {}
        self._counts: dict[Phenomenon | Flaw, int] = {}

    def add(
        self,
        name: Phenomenon | Flaw,
        transaction: int,
        key: Key,
        value: object,
        *,
        writer: int | None = None,
        other: int | None = None,
        expected: object = None,
    ) -> None:
        """One more."""
        self._counts[name] = self._counts.get(name, 0) + 1
        if name not in self._first:
            self._first[name] = Observation(transaction, key, value, writer, other, expected)

    def anomalies(self) -> list[Anomaly]:
        """What was seen."""
        return [Anomaly(name, observation=one, count=self._counts[name]) for name, one in self._first.items()]
