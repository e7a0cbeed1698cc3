"""What kind of cases to make: sizes, shares and which productions take part."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from acidtest.errors import UsageError


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Fucci's random conflict construction (section 3.1); each part can be switched off to measure its worth.

    `share` is the part of transaction sets that get a constructed conflict at all.
    """

    share: float = 0.9
    fully_shared: bool = True
    partially_shared: bool = True
    contained: bool = True
    contained_insert: bool = True
    order_filters: bool = True


@dataclass(frozen=True, slots=True)
class Profile:
    """Sizes and shares. `tags` name the groups of productions that take part, `weights` correct some."""

    name: str
    tags: frozenset[str]
    tables_max: int = 1
    columns_max: int = 3
    rows_max: int = 6
    pool_max: int = 4
    """How many values a column likes to hold at most: few, so that writes meet."""
    transactions: tuple[tuple[int, float], ...] = ((2, 0.8), (3, 0.15), (4, 0.05))
    """How many transactions, with what weight."""
    statements_max: int = 3
    """Of a transaction, without the reads of whole tables that open and close it."""
    rollback_share: float = 0.25
    opening_read_share: float = 0.35
    """How many transactions begin by reading a whole table, which takes their snapshot where there is one."""
    closing_read_share: float = 0.5
    """How many end by reading a whole table: what nobody reads is not seen."""
    again_share: float = 0.25
    """How many statements come back to the rows of an earlier one of their transaction."""
    whole_share: float = 0.2
    """How many statements have no condition at all."""
    depth_max: int = 3
    decay: float = 0.5
    """What is left of the weight of a nesting production with each level of nesting."""
    null_share: float = 0.15
    null_key_share: float = 0.4
    """The same for unique keys: NULL is the one value that many of their rows can share."""
    primary_share: float = 0.6
    unique_share: float = 0.15
    secondary_share: float = 0.3
    composite_share: float = 0.15
    not_null_share: float = 0.2
    default_share: float = 0.2
    generated_share: float = 0.0
    foreign_key_share: float = 0.0
    fresh_share: float = 0.1
    """How many values are new instead of taken from the column's own few."""
    sets_per_schema: int = 2
    orders_per_set: int = 10
    conflicts: Conflicts = field(default_factory=Conflicts)
    weights: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[tuple["Profile", float], ...] = ()
    """Other profiles, with what weight each schema follows one of them instead."""

    def drawn(self, rng: Random) -> "Profile":
        """The profile for one schema. Orders and conflict construction stay those of the whole."""
        if not self.parts:
            return self
        profiles, weights = zip(*self.parts, strict=True)
        part: Profile = rng.choices(profiles, weights)[0]
        return replace(part, orders_per_set=self.orders_per_set, conflicts=self.conflicts)


SIMPLE = Profile("simple", frozenset({"core"}))

KEYS = Profile(
    "keys",
    frozenset({"core", "keys"}),
    primary_share=0.85,
    unique_share=0.6,
    composite_share=0.35,
    not_null_share=0.3,
    weights={
        "statement.update": 1,
        "statement.move": 3,
        "statement.insert": 2.5,
        "statement.select.share": 0.5,
        "statement.select.update": 0.5,
    },
)

RICH = Profile(
    "rich",
    frozenset({"core", "keys", "rich"}),
    tables_max=3,
    columns_max=5,
    unique_share=0.25,
    secondary_share=0.5,
    composite_share=0.25,
    generated_share=0.06,
    foreign_key_share=0.05,
    statements_max=4,
)

MIXED = Profile(
    "mixed", SIMPLE.tags | KEYS.tags | RICH.tags, parts=((SIMPLE, 0.45), (KEYS, 0.45), (RICH, 0.1))
)

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (SIMPLE, KEYS, RICH, MIXED)}


SWITCHES: Mapping[str, Mapping[str, bool | float]] = {
    "FSF": {"fully_shared": False},
    "PSF": {"partially_shared": False},
    "CTC": {"contained": False},
    "CTC-INSERT": {"contained_insert": False},
    "filters": {"order_filters": False},
    "conflicts": {"share": 0.0},
}
"""Parts of the conflict construction that can be left out, to measure their worth."""


def without(profile: Profile, parts: Iterable[str]) -> Profile:
    """The profile with parts of its conflict construction switched off."""
    for part in parts:
        if part not in SWITCHES:
            raise UsageError(
                f"{part!r} is no part of the conflict construction; known are {', '.join(SWITCHES)}"
            )
        profile = replace(profile, conflicts=replace(profile.conflicts, **SWITCHES[part]))  # type: ignore[arg-type]
    return profile


def profile_of(name: str) -> Profile:
    """The profile of that name."""
    if name not in PROFILES:
        raise UsageError(f"unknown profile {name!r}; known are {', '.join(PROFILES)}")
    return PROFILES[name]
