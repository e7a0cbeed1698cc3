"""Which violations are worth an investigation: a bug that shows often would else be reduced all day."""

from collections import Counter
from collections.abc import Iterable

from acidtest.findings.cause import Cause
from acidtest.findings.signature import Signature

EXPLAINED_STEP, UNEXPLAINED_STEP = 4, 2

ENOUGH, MUCH = 0.25, 0.4
"""Shares of the time. Above the first, what a finding may account for is left alone; above the second,
whatever went wrong in the same way at the same kind of statement: one flood must not stop it all."""

Place = tuple[str, str]
"""A target and a level."""


class Suspects:
    """Remembers what was seen where, and which findings came of it."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, Signature]] = Counter()
        self._found: dict[int, Signature] = {}
        self._looked_at: set[tuple[Cause, Place]] = set()

    def found(self, number: int, signature: Signature) -> None:
        """There is a finding with this signature."""
        self._found[number] = signature

    def finding_of(self, signature: Signature) -> int | None:
        """The number of the finding that it is for sure."""
        return next((number for number, one in self._found.items() if one.is_same(signature)), None)

    def likely_finding_of(self, signature: Signature) -> int | None:
        """The number of a finding that it may reduce to, or at least looks like."""
        for alike in (signature.may_become, signature.looks_like):
            number = next((number for number, one in self._found.items() if alike(one)), None)
            if number is not None:
                return number
        return None

    def is_worth_it(self, place: Place, signature: Signature, spent: float = 0.0) -> bool:
        """Whether to investigate one more violation that has this signature before reduction; `spent` is the
        share of the time that investigations have taken so far.

        What goes wrong in this way for the first time at a level of a target is always looked at. One that
        has just the signature of a finding is that bug. One that a finding may account for is looked at the
        1st, 4th, 16th .. time: behind it may be another bug, which only a reduction can tell apart. Any
        other, or one that is almost bare, is looked at the 1st, 2nd, 4th, 8th .. time. The more is spent, the
        choosier.
        """
        if self.finding_of(signature) is not None:
            return False
        target, found = place[0], list(self._found.values())
        first = (signature.cause, place) not in self._looked_at
        self._looked_at.add((signature.cause, place))
        if first:
            self._seen[target, signature] += 1
            return True
        if spent > MUCH and any(signature.looks_like(one) for one in found):
            return False
        accounted = _may_be_one_of(signature, found)
        if spent > ENOUGH and accounted:
            return False
        self._seen[target, signature] += 1
        return _is_power(self._seen[target, signature], EXPLAINED_STEP if accounted else UNEXPLAINED_STEP)


def _may_be_one_of(signature: Signature, found: Iterable[Signature]) -> bool:
    """Whether it may be one of the findings with more around it. One that is almost bare, with a single cause
    more, may as well be a bug of its own."""
    by = [one for one in found if signature.may_become(one)]
    return bool(by) and all(signature.causes > one.causes + 1 for one in by)


def _is_power(number: int, base: int) -> bool:
    while number % base == 0:
        number //= base
    return number == 1
