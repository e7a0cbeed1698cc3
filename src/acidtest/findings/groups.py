"""Findings by their cause: one deviation, or one way in which things go wrong; variants inside."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from acidtest.findings.finding import Finding
from acidtest.findings.signature import Cause

Stored = tuple[Path, Finding]
"""A finding and its folder."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one cause; the first one stands for it."""

    variants: tuple[Stored, ...]

    @property
    def first(self) -> Finding:
        return self.variants[0][1]

    @property
    def folder(self) -> Path:
        return self.variants[0][0]


def grouped(stored: Iterable[Stored]) -> list[Group]:
    """The findings by their causes, in the order in which these were found first."""
    groups: dict[Cause | Path, list[Stored]] = {}
    for folder, finding in stored:
        key: Cause | Path = folder if finding.identity is None else finding.identity.cause
        groups.setdefault(key, []).append((folder, finding))
    return [Group(tuple(variants)) for variants in groups.values()]
