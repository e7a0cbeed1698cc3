"""Deciding more must not mean passing more: of histories with one thing changed nearly all are violations."""

import random
from collections import Counter

import pytest

from acidtest.model import Judgement
from tests.golden.judging import judge
from tests.golden.mutate import Change, Fate, Mutant, fate_of, mutants_of
from tests.golden.store import histories_of, servers

SEED = 11
EVERY = 9
"""Each ninth history; all of them take minutes (`python -m tests.golden.mutate`)."""

WANTED = {
    Change.CELL: 0.99,
    Change.DROPPED: 0.99,
    Change.DOUBLED: 0.99,
    Change.COUNT: 0.99,
    Change.TO_ERROR: 0.98,
    Change.TO_SUCCESS: 0.95,
    Change.WAIT: 0.90,
}
"""The share that must be found, a little below what is measured."""


@pytest.fixture(scope="module")
def fates() -> list[tuple[Mutant, Fate]]:
    """What became of a sample."""
    mutants = [
        mutant
        for server in servers()
        for golden in histories_of(server)[::EVERY]
        if all(one.judgement is Judgement.PASS for one in judge(golden.history))
        for mutant in mutants_of(golden, random.Random(f"{SEED} {server} {golden.id}"))
    ]
    return [(mutant, fate_of(mutant)) for mutant in mutants]


@pytest.mark.parametrize("change", Change)
def test_a_changed_history_is_a_violation(change: Change, fates: list[tuple[Mutant, Fate]]) -> None:
    counts = Counter(fate for mutant, fate in fates if mutant.change is change)
    assert counts[Fate.FOUND] >= WANTED[change] * counts.total() > 0


def test_of_all_changes_nearly_all_are_found_and_none_is_explained_away(
    fates: list[tuple[Mutant, Fate]],
) -> None:
    counts = Counter(fate for _, fate in fates)
    assert counts[Fate.FOUND] >= 0.98 * counts.total()
    assert counts[Fate.EXPLAINED] == 0
