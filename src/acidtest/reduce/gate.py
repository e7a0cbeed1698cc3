"""The one gate through which every candidate goes: cheap refusals first, then the re-run."""

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from acidtest.casefile import print_case
from acidtest.errors import UsageError
from acidtest.model import Case
from acidtest.reduce.order import Rank, characters, order

Check = Callable[[Case], bool]


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop although there may be more to gain."""

    runs_max: int = 3000
    stalled_runs_max: int = 1000
    """Runs in a row of which none was kept."""
    seconds_max: float = math.inf


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is, told after every run."""

    layer: str
    runs: int
    kept: int
    statements: int
    characters: int


class LimitReachedError(Exception):
    """Ends a reduction from within; never leaves `reduce_case`."""


class Gate:
    """Holds the best case so far; a candidate that is simpler and still interesting takes its place."""

    def __init__(
        self,
        case: Case,
        interesting: Check,
        reordering: Check,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.best = case
        self.layer = ""
        self.runs = self.cached = self.tried = self.kept = 0
        self.runs_of: Counter[str] = Counter()
        self.kept_of: Counter[str] = Counter()
        self._rank: Rank = order(case)
        self._checks = {False: interesting, True: reordering}
        self._limits = limits
        self._on_progress = on_progress
        self._refused: set[tuple[bool, str]] = set()
        self._stalled = 0
        self._until = time.monotonic() + limits.seconds_max
        self._printable = _text(case) is not None

    def consider(self, candidate: Case | None, strict: bool = False) -> bool:
        """Keep the candidate if it is simpler than the best and passes; what failed once is not run again."""
        if candidate is None or order(candidate) >= self._rank:
            return False
        strict = strict and self._checks[True] is not self._checks[False]
        text = _text(candidate)
        if text is None:
            if self._printable:
                return False
            text = repr(candidate)
        self.tried += 1
        if (strict, text) in self._refused:
            self.cached += 1
            return False
        if self._passes(candidate, strict):
            self._keep(candidate)
            return True
        self._refused.add((strict, text))
        self._stalled += 1
        self._tell()
        return False

    def _passes(self, candidate: Case, strict: bool) -> bool:
        limits = self._limits
        if self.runs >= limits.runs_max or self._stalled >= limits.stalled_runs_max:
            raise LimitReachedError
        if time.monotonic() > self._until:
            raise LimitReachedError
        self.runs += 1
        self.runs_of[self.layer] += 1
        try:
            return self._checks[strict](candidate)
        except UsageError:
            return False  # the DBMS refused the set-up

    def _keep(self, candidate: Case) -> None:
        self.best, self._rank = candidate, order(candidate)
        self.kept += 1
        self.kept_of[self.layer] += 1
        self._stalled = 0
        self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            statements = len(self.best.setup) + len(self.best.schedule)
            size = characters(self.best)
            self._on_progress(Progress(self.layer, self.runs, self.kept, statements, size))


def _text(case: Case) -> str | None:
    """The case file, or None where the case cannot be written as one."""
    try:
        return print_case(case)
    except ValueError:
        return None
