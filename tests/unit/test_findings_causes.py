"""Ratchets: one planted fault is taken for one or two causes, over all cases that seeds have found.

The cases are data (`tests/quality/signatures.py` finds and reduces them, and writes them down). Here the
reduced ones run and are signed again, all of them, and of every fault one is reduced anew.
"""

from collections import defaultdict

import pytest

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.findings.cause import Cause
from acidtest.findings.signature import signature_of
from acidtest.simulated import FAULTS, LOCKING, Fault, spec_of
from acidtest.targets.resolve import open_target
from tests.quality.signatures import Found, read_stored, reduced

CAUSES_MAX = 2


@pytest.fixture(scope="module")
def stored() -> dict[str, list[Found]]:
    by_fault: dict[str, list[Found]] = defaultdict(list)
    for one in read_stored():
        by_fault[one.fault].append(one)
    return by_fault


def causes_of(fault: Fault, found: list[Found]) -> set[Cause]:
    causes = set()
    with open_target(spec_of(LOCKING.name, fault)) as target, Examiner(target, ["solver"]) as examiner:
        for one in found:
            examined = examiner.examine(parse_case(one.reduced, one.fault), fresh=True)
            assert examined.violation is not None, f"{one.fault} with seed {one.seed} does not show any more"
            causes.add(signature_of(examined.history, examined.violation).cause)
    return causes


def test_every_fault_has_cases(stored: dict[str, list[Found]]) -> None:
    assert set(stored) == {fault.name for fault in FAULTS}
    assert sum(map(len, stored.values())) >= 420


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_one_fault_is_taken_for_one_or_two_causes(fault: Fault, stored: dict[str, list[Found]]) -> None:
    assert 1 <= len(causes_of(fault, stored[fault.name])) <= CAUSES_MAX


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_reduction_ends_at_one_of_these_causes(fault: Fault, stored: dict[str, list[Found]]) -> None:
    found = stored[fault.name]
    with open_target(spec_of(LOCKING.name, fault)) as target, Examiner(target, ["solver"]) as examiner:
        examined = examiner.examine(parse_case(found[0].original, fault.name), fresh=True)
        assert examined.violation is not None
        cause = signature_of(*reduced(examined, examiner)).cause
    assert cause in causes_of(fault, found)
