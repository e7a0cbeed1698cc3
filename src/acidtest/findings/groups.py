"""Findings by their cause: one deviation, or one way in which things go wrong; variants inside."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from acidtest.findings.cause import Cause
from acidtest.findings.finding import Finding

Stored = tuple[Path, Finding]
"""A finding and its folder."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one cause. The first one that the oracles agree upon stands for it."""

    variants: tuple[Stored, ...]

    @property
    def representative(self) -> Stored:
        """The finding that stands for the cause, and its folder."""
        return min(self.variants, key=lambda one: bool(one[1].disagreement))

    @property
    def first(self) -> Finding:
        return self.representative[1]

    @property
    def folder(self) -> Path:
        return self.representative[0]

    @property
    def others(self) -> tuple[Stored, ...]:
        """The other variants."""
        return tuple(one for one in self.variants if one is not self.representative)


def grouped(stored: Iterable[Stored]) -> list[Group]:
    """The findings by their causes, in the order in which these were found first."""
    groups: dict[Cause | Path, list[Stored]] = {}
    for folder, finding in stored:
        key: Cause | Path = folder if finding.identity is None else finding.identity.cause
        groups.setdefault(key, []).append((folder, finding))
    return [Group(tuple(variants)) for variants in groups.values()]
