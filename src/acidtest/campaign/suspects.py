"""Which violations are worth an investigation: a bug that shows often would else be reduced all day."""

from collections import Counter
from collections.abc import Iterable

from acidtest.signatures import Signature

EXPLAINED_STEP, UNEXPLAINED_STEP = 4, 2

ENOUGH, MUCH = 0.25, 0.4
"""Shares of the time. Above the first, what a finding may explain is left alone; above the second, whatever
went wrong in the same way at the same kind of statement: one flood of violations must not stop it all."""


class Suspects:
    """Remembers what was seen on each target, and which findings came of it."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, Signature]] = Counter()
        self._found: dict[str, set[Signature]] = {}

    def found(self, target: str, signature: Signature) -> None:
        """There is a finding with this signature."""
        self._found.setdefault(target, set()).add(signature)

    def is_found(self, target: str, signature: Signature) -> bool:
        """Whether there is a finding with this signature."""
        return signature in self._found.get(target, set())

    def is_worth_it(self, target: str, signature: Signature, spent: float = 0.0) -> bool:
        """Whether to investigate one more violation that has this signature before reduction; `spent` is the
        share of the time that investigations have taken so far.

        One that has just the signature of a finding is that bug. One that a finding may explain is looked at
        the 1st, 4th, 16th .. time: behind it may be another bug, which only a reduction can tell apart. One
        that nothing explains, or that is almost bare, is looked at the 1st, 2nd, 4th, 8th .. time. The more
        is spent, the choosier.
        """
        if self.is_found(target, signature):
            return False
        found = self._found.get(target, set())
        if spent > MUCH and any(signature.looks_like(one) for one in found):
            return False
        explained = _is_explained(signature, found)
        if spent > ENOUGH and explained:
            return False
        self._seen[target, signature] += 1
        return _is_power(self._seen[target, signature], EXPLAINED_STEP if explained else UNEXPLAINED_STEP)


def _is_explained(signature: Signature, found: Iterable[Signature]) -> bool:
    """Whether it may be one of the findings with more around it. One that is almost bare, with a single cause
    more, may as well be a bug of its own."""
    by = [one for one in found if signature.may_become(one)]
    return bool(by) and all(len(signature.causes) > len(one.causes) + 1 for one in by)


def _is_power(number: int, base: int) -> bool:
    while number % base == 0:
        number //= base
    return number == 1
