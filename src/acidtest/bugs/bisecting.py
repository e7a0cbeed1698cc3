"""Between which two versions a bug came or went, with as few versions tried as possible."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from acidtest.bugs.cells import Cell, Found

Try = Callable[[str], Cell | None]
"""The cell of a version; None if the version cannot be had or says nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """The bug shows on one side of a pair of versions that follow each other as far as they can be had."""

    before: str
    after: str
    shows_after: bool

    @property
    def word(self) -> str:
        return "introduced" if self.shows_after else "fixed"


@dataclass(frozen=True, slots=True)
class Bisected:
    """What was found: changes from old to new, and what every tried version said."""

    changes: tuple[Change, ...]
    tried: tuple[Cell, ...]
    left_out: tuple[str, ...] = ()
    """Versions that say nothing."""


class Bisection:
    """Looks for changes between the oldest and the newest of some versions, which are in order."""

    def __init__(self, versions: Sequence[str], look: Try) -> None:
        self._versions = list(versions)
        self._look = look
        self._seen: dict[str, Cell | None] = {}

    def run(self, hints: Iterable[str] = ()) -> Bisected:
        """All changes that show between the ends and the versions of `hints`, at which it is said to show."""
        first = self._speaking(range(len(self._versions)))
        last = self._speaking(range(len(self._versions) - 1, -1, -1))
        changes: list[Change] = []
        if first is not None and last is not None:
            between = {self._versions.index(one) for one in hints if one in self._versions}
            stops = [first, *sorted(at for at in between if first < at < last and self._at(at)), last]
            for left, right in pairwise(stops):
                changes += self._between(left, right)
        tried = tuple(cell for one in self._versions if (cell := self._seen.get(one)) is not None)
        silent = tuple(one for one in self._versions if one in self._seen and self._seen[one] is None)
        return Bisected(tuple(changes), tried, silent)

    def _between(self, left: int, right: int) -> list[Change]:
        """The change between two versions that differ; None is looked for where they agree."""
        while self._shows(left) != self._shows(right):
            middle = self._middle(left, right)
            if middle is None:
                return [Change(self._versions[left], self._versions[right], self._shows(right))]
            left, right = (middle, right) if self._shows(middle) == self._shows(left) else (left, middle)
        return []

    def _middle(self, left: int, right: int) -> int | None:
        """A version in between that says something, the nearest to the middle first."""
        inner = sorted(range(left + 1, right), key=lambda at: abs(2 * at - left - right))
        return self._speaking(inner)

    def _speaking(self, order: Iterable[int]) -> int | None:
        return next((at for at in order if self._at(at) is not None), None)

    def _at(self, position: int) -> Cell | None:
        version = self._versions[position]
        if version not in self._seen:
            self._seen[version] = self._look(version)
        return self._seen[version]

    def _shows(self, position: int) -> bool:
        cell = self._at(position)
        return cell is not None and cell.found is Found.SHOWS
