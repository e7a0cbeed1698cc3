"""What a campaign is going to do: targets and levels as cells, and the chunks of cases that fill them.

A chunk is made by its own dice (seed, target, levels and number), so which worker runs it, and when, changes
nothing in it, and one that was broken off goes on at its position.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any, Self

from acidtest.campaign.statistics import CRASH
from acidtest.errors import UsageError
from acidtest.generate import Profile, profile_of
from acidtest.generate.profile import without
from acidtest.model import Level
from acidtest.oracles.registry import check_names, default_oracles
from acidtest.targets.resolve import levels_of

CHUNK_CASES = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for. `levels` are short names; none: every level that a target has. Without
    `oracles` each target gets those that suit it."""

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

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """What was stored."""
        lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
        return cls(**{**data, **lists})

    def oracles_for(self, dbms: str) -> tuple[str, ...]:
        """The oracles that judge on such a target. A server that dies is always a finding."""
        chosen = check_names(self.oracles) if self.oracles else default_oracles(dbms)
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

    @property
    def name(self) -> str:
        """The beginning of the ids of its cases."""
        return f"{self.cell.target}-{self.cell.level}-{self.number}".replace("/", "_")

    def dice(self, seed: int) -> Random:
        """The dice that make its cases, always the same."""
        return Random(f"{seed}/{self.cell.target}/{self.cell.level}/{self.number}")


def cells_of(settings: Settings) -> list[Cell]:
    """All cells; refuses what cannot be meant before any server is started."""
    check_names(settings.oracles)
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
    """Hands out chunks: round by round one of each cell, and of a cell that was begun before what is left."""

    def __init__(
        self, cells: Sequence[Cell], cases_max: int | None, begun: Sequence[Chunk], done: int
    ) -> None:
        self._cells = list(cells)
        self._given = dict.fromkeys(cells, 0)
        self._budget = None if cases_max is None else max(0, cases_max - done)
        self._left: list[Chunk] = []
        for chunk in begun:
            self.skip_to(chunk.cell, chunk.number + 1)
            size = self._spend(chunk.size - chunk.position)
            if size:
                self._left.append(replace(chunk, size=chunk.position + size))

    def _spend(self, wanted: int) -> int:
        """How many of these cases the limit still allows."""
        if self._budget is None:
            return wanted
        allowed = min(wanted, self._budget)
        self._budget -= allowed
        return allowed

    def skip_to(self, cell: Cell, number: int) -> None:
        """Chunks of the cell before this number have been handed out."""
        self._given[cell] = max(self._given[cell], number)

    def next(self, targets: Sequence[str]) -> Chunk | None:
        """A chunk for one of these targets; None if there is nothing left to do for them."""
        for chunk in self._left:
            if chunk.cell.target in targets:
                self._left.remove(chunk)
                return chunk
        cells = [cell for cell in self._cells if cell.target in targets]
        size = self._spend(CHUNK_CASES) if cells else 0
        if not size:
            return None
        cell = min(cells, key=self._given.__getitem__)
        number = self._given[cell]
        self._given[cell] += 1
        return Chunk(cell, number, size)

    def give_back(self, chunk: Chunk) -> None:
        """A chunk that was not finished."""
        self._left.insert(0, chunk)
