"""Productions: small functions with a name, a weight and a guard, chosen at random where they may stand.

    @production("condition", "between", weight=1.5, guard=has_columns)
    def between(context: Context) -> exp.Expression: ...

Each leaves its name in the context, so that a test can see that none is silently unused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from acidtest.generate.flavour import Can, Family, Flavour
from acidtest.generate.profile import Profile
from acidtest.generate.tables import ColumnDef, TableDef


@dataclass(frozen=True, slots=True)
class Source:
    """Something that stands in FROM; its columns are written with `alias` before them if it has one."""

    alias: str | None
    columns: tuple[ColumnDef, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Where a production stands: what it may name, how deep it is, and the dice."""

    rng: Random
    flavour: Flavour
    profile: Profile
    tables: tuple[TableDef, ...]
    scope: tuple[Source, ...] = ()
    depth: int = 0
    target: TableDef | None = None
    """The table that the statement writes."""
    column: ColumnDef | None = None
    """The column that SET assigns to."""
    used: set[str] = field(default_factory=set)

    def deeper(self) -> "Context":
        """The same place, one level of nesting further down."""
        return replace(self, depth=self.depth + 1)

    def within(self, *sources: Source) -> "Context":
        """The same dice, with these sources to name columns of."""
        return replace(self, scope=sources)

    def columns(self, family: Family | None = None) -> list[tuple[str | None, ColumnDef]]:
        """The columns that may be named, of one family or of all."""
        return [
            (source.alias, column)
            for source in self.scope
            for column in source.columns
            if family is None or column.type.family is family
        ]

    def chance(self, share: float) -> bool:
        """Whether something that happens in this share of places happens here."""
        return self.rng.random() < share

    def can(self, ability: Can) -> bool:
        """Whether the DBMS takes it."""
        return self.flavour.can(ability)


Guard = Callable[[Context], bool]
Make = Callable[[Context], Any]


@dataclass(frozen=True, slots=True)
class Production:
    """One way to write something, where the guard allows it and the DBMS can do what it `needs`.

    `nests`: it contains others of its kind, so its weight decays with depth.
    """

    name: str
    weight: float
    make: Make
    guard: Guard
    nests: bool
    tag: str
    needs: Can | None


GRAMMAR: dict[str, list[Production]] = {}
"""All productions by what they produce."""


def _always(_context: Context) -> bool:
    return True


def production(
    kind: str,
    name: str,
    *,
    weight: float = 1.0,
    guard: Guard = _always,
    nests: bool = False,
    tag: str = "core",
    needs: Can | None = None,
) -> Callable[[Make], Make]:
    """Register a function as one way to produce a kind of thing."""

    def register(make: Make) -> Make:
        one = Production(f"{kind}.{name}", weight, make, guard, nests, tag, needs)
        GRAMMAR.setdefault(kind, []).append(one)
        return make

    return register


def produce(kind: str, context: Context) -> Any:
    """Something of that kind, made by one of its productions."""
    options, weights = _options(kind, context)
    chosen = context.rng.choices(options, weights)[0]
    context.used.add(chosen.name)
    return chosen.make(context.deeper() if chosen.nests else context)


def _options(kind: str, context: Context) -> tuple[list[Production], list[float]]:
    profile = context.profile
    options: list[Production] = []
    weights: list[float] = []
    for one in GRAMMAR[kind]:
        if one.tag not in profile.tags or (one.nests and context.depth >= profile.depth_max):
            continue
        weight = profile.weights.get(one.name, one.weight)
        possible = one.needs is None or one.needs in context.flavour.abilities
        if weight and possible and one.guard(context):
            options.append(one)
            weights.append(weight * profile.decay**context.depth if one.nests else weight)
    return options, weights


def productions_of(profile: Profile, flavour: Flavour) -> Sequence[Production]:
    """All productions that a profile uses on a DBMS."""
    absent = set(Family) - {type_.family for type_ in flavour.types}
    return [
        one
        for kind, options in GRAMMAR.items()
        for one in options
        if kind not in absent
        and one.tag in profile.tags
        and profile.weights.get(one.name, one.weight)
        and (one.needs is None or flavour.can(one.needs))
    ]
