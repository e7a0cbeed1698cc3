"""Every planted fault shows in the history of its own case, and only where it is planted."""

import pytest

from acidtest.casefile import load_case
from acidtest.execute import Executor
from acidtest.model import Case, History
from acidtest.simulated import FAULTS, Fault, case_file
from acidtest.targets.simulated import SimulatedTarget


def observe(case: Case, fault: Fault | None = None) -> History:
    with SimulatedTarget(None, "simulated", fault.name if fault else None) as target, Executor(target) as one:
        return one.run(case)


def observable(history: History) -> object:
    """All that a client can notice: outcomes, waits, and the final state."""
    return [(record.outcome, record.waited, record.after) for record in history.records], history.final


@pytest.fixture(params=FAULTS, ids=lambda fault: fault.name)
def fault(request: pytest.FixtureRequest) -> Fault:
    chosen: Fault = request.param
    return chosen


def test_there_are_enough_faults_and_their_names_differ() -> None:
    assert len(FAULTS) >= 25
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_case_of_a_fault_shows_it(fault: Fault) -> None:
    case = load_case(case_file(fault))
    assert observable(observe(case, fault)) != observable(observe(case))


def test_the_case_of_a_fault_runs_at_a_level_where_it_applies(fault: Fault) -> None:
    levels = {transaction.level for transaction in load_case(case_file(fault)).transactions}
    assert levels <= set(fault.levels)


def test_a_fault_shows_at_every_level_that_it_names(fault: Fault) -> None:
    for level in fault.levels:
        case = load_case(case_file(fault)).at_level(level)
        assert observable(observe(case, fault)) != observable(observe(case)), level


def test_a_fault_does_not_touch_the_set_up(fault: Fault) -> None:
    case = load_case(case_file(fault))
    assert observe(case, fault).initial == observe(case).initial


def test_the_same_case_gives_the_same_history_again(fault: Fault) -> None:
    case = load_case(case_file(fault))
    with SimulatedTarget(None, "simulated", fault.name) as target, Executor(target) as executor:
        assert executor.run(case) == executor.run(case) == executor.run(case, fresh=True)
