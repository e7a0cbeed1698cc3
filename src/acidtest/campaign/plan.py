"""What a campaign is going to do: targets and levels as cells, and the chunks of cases that fill them.

A chunk is made by its own dice (seed, target, levels and number), so which worker runs it, and when, changes
nothing in it, and one that was broken off goes on at its position.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from math import inf
from random import Random
from typing import Any, Self

from acidtest.campaign.statistics import CRASH
from acidtest.codec import DecodingError, decode, encode
from acidtest.errors import UsageError
from acidtest.generate import Profile, profile_of
from acidtest.generate.profile import without
from acidtest.model import Level
from acidtest.oracles.registry import DEFAULT, with_comparing
from acidtest.targets.resolve import levels_of

CHUNK_CASES = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for. `levels` are short names; none: every level that a target has. Without
    `oracles` the default ones judge."""

    targets: tuple[str, ...]
    levels: tuple[str, ...]
    oracles: tuple[str, ...]
    profile: str
    seed: int
    mixed_levels: bool = False
    transactions: int | None = None
    orders: int | None = None
    without: tuple[str, ...] = ()
    """Parts of the conflict construction that are switched off."""
    cases: int | None = None
    seconds: float | None = None
    against: str | None = None
    """The target that every case is run on as well, to compare."""
    instrument: float = 0.0
    """The share of schemas whose cases show versions."""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """What was stored; raises `ValueError` if that cannot have been settings."""
        if isinstance(data, dict) and (unknown := data.keys() - {one.name for one in fields(cls)}):
            raise ValueError(f"settings that this version does not know: {', '.join(sorted(unknown))}")
        try:
            return decode(data, cls)
        except DecodingError as problem:
            raise ValueError(f"the settings do not fit: {problem}") from problem

    def all_oracles(self) -> tuple[str, ...]:
        """The oracles that judge. A server that dies is always a finding."""
        chosen = with_comparing(self.oracles or DEFAULT, self.against is not None)
        return tuple(dict.fromkeys((*chosen, CRASH)))

    def generator_profile(self) -> Profile:
        """The profile as asked for."""
        profile = without(profile_of(self.profile), self.without)
        if self.orders is not None:
            profile = replace(profile, orders_per_set=self.orders)
        return profile if self.transactions is None else _with_transactions(profile, self.transactions)


def _with_transactions(profile: Profile, number: int) -> Profile:
    parts = tuple((_with_transactions(part, number), weight) for part, weight in profile.parts)
    return replace(profile, transactions=((number, 1.0),), parts=parts)


@dataclass(frozen=True, slots=True)
class Cell:
    """One target at one level, or at several of which each transaction draws its own."""

    target: str
    levels: tuple[Level, ...]

    @property
    def level(self) -> str:
        """The level's short name, or all of them."""
        return "+".join(level.short for level in self.levels)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some cases of a cell; those before `position` have been examined."""

    cell: Cell
    number: int
    size: int
    position: int = 0
    deadly: frozenset[int] = frozenset()
    """Positions of cases that ended the process they ran in: counted, and not run again."""

    @property
    def name(self) -> str:
        """The beginning of the ids of its cases."""
        return f"{self.cell.target}-{self.cell.level}-{self.number}".replace("/", "_")

    def dice(self, seed: int) -> Random:
        """The dice that make its cases, always the same."""
        return Random(f"{seed}/{self.cell.target}/{self.cell.level}/{self.number}")


def cells_of(settings: Settings) -> list[Cell]:
    """All cells; refuses what cannot be meant before any server is started."""
    settings.all_oracles()
    settings.generator_profile()
    cells = []
    for target in settings.targets:
        levels = _levels(target, settings.levels)
        cells += [Cell(target, levels)] if settings.mixed_levels else [Cell(target, (one,)) for one in levels]
    return cells


def _levels(target: str, names: Sequence[str]) -> tuple[Level, ...]:
    have = levels_of(target)
    wanted = tuple(dict.fromkeys(map(Level.parse, names))) or have
    for level in wanted:
        if level not in have:
            known = ", ".join(f"{one.value} ({one.short})" for one in have)
            raise UsageError(f"{target} has no isolation level {level.value}; it has: {known}")
    return wanted


class Queue:
    """Hands out chunks, round by round one of each cell; of a chunk that was begun before what is left of it.

    What a limit allows is settled round by round as well, so the settings alone say which cases are run, not
    who works how fast.
    """

    def __init__(self, cells: Sequence[Cell], cases_max: int | None, begun: Sequence[Chunk] = ()) -> None:
        self._targets = {cell.target for cell in cells}
        self._to_come = _rounds(cells, cases_max, begun)
        self._put_by: list[Chunk] = []
        """Given back, or of a target that nobody has asked for since."""

    def next(self, targets: Sequence[str]) -> Chunk | None:
        """A chunk for one of these targets; None if there is nothing left to do for them."""
        for chunk in self._put_by:
            if chunk.cell.target in targets:
                self._put_by.remove(chunk)
                return chunk
        if self._targets.isdisjoint(targets):
            return None
        for chunk in self._to_come:
            if chunk.cell.target in targets:
                return chunk
            self._put_by.append(chunk)
        return None

    def give_back(self, chunk: Chunk) -> None:
        """A chunk that was not finished."""
        self._put_by.insert(0, chunk)


def _rounds(cells: Sequence[Cell], cases_max: int | None, begun: Sequence[Chunk]) -> Iterator[Chunk]:
    """All chunks that have something left to do within the limit. The last one may be clipped."""
    positions = {(chunk.cell, chunk.number): chunk.position for chunk in begun}
    budget = inf if cases_max is None else max(cases_max - sum(positions.values()), 0)
    for number in count():
        for cell in cells:
            if not budget:
                return
            position = positions.get((cell, number), 0)
            left = int(min(CHUNK_CASES - position, budget))
            budget -= left
            if left:
                yield Chunk(cell, number, position + left, position)
