"""Every planted fault shows in the history of its own case, and only where it is planted."""

from dataclasses import dataclass

import pytest

from acidtest.casefile import load_case
from acidtest.execute import Executor
from acidtest.model import Case, History, Level
from acidtest.simulated import BEHAVIOURS, LOCKING, Fault, case_file, faults_of, levels_of, spec_of
from acidtest.targets.resolve import open_target


@dataclass(frozen=True)
class Plant:
    """A fault in an engine."""

    engine: str
    fault: Fault

    @property
    def case(self) -> Case:
        """The smallest case, at the first level at which the fault shows."""
        return load_case(case_file(self.fault, self.engine)).at_level(self.levels[0])

    @property
    def levels(self) -> tuple[Level, ...]:
        return levels_of(self.fault, self.engine)

    def run(self, case: Case, planted: bool = True) -> History:
        spec = spec_of(self.engine, self.fault if planted else None)
        with open_target(spec) as target, Executor(target) as executor:
            return executor.run(case)

    def shows_in(self, case: Case) -> bool:
        return observable(self.run(case)) != observable(self.run(case, planted=False))


PLANTS = [Plant(engine, fault) for engine in BEHAVIOURS for fault in faults_of(engine)]


def observable(history: History) -> object:
    """All that a client can notice: outcomes, waits, and the final state."""
    return [(record.outcome, record.waited, record.after) for record in history.records], history.final


@pytest.fixture(params=PLANTS, ids=lambda plant: f"{plant.engine}-{plant.fault.name}")
def plant(request: pytest.FixtureRequest) -> Plant:
    chosen: Plant = request.param
    return chosen


@pytest.mark.parametrize("engine", BEHAVIOURS)
def test_there_are_enough_faults_and_their_names_differ(engine: str) -> None:
    names = [fault.name for fault in faults_of(engine)]
    assert len(names) >= (25 if engine == LOCKING.name else 15)
    assert len(set(names)) == len(names)


def test_the_case_of_a_fault_runs_at_a_level_where_it_applies(plant: Plant) -> None:
    if plant.engine == plant.fault.engines[0]:
        case = load_case(case_file(plant.fault, plant.engine))
        levels = {transaction.level for transaction in case.transactions}
        assert levels <= set(plant.levels)


def test_a_fault_shows_at_every_level_that_it_names(plant: Plant) -> None:
    for level in plant.levels:
        assert plant.shows_in(plant.case.at_level(level)), level


def test_a_fault_does_not_touch_the_set_up(plant: Plant) -> None:
    assert plant.run(plant.case).initial == plant.run(plant.case, planted=False).initial


def test_the_same_case_gives_the_same_history_again(plant: Plant) -> None:
    with open_target(spec_of(plant.engine, plant.fault)) as target, Executor(target) as executor:
        case = plant.case
        assert executor.run(case) == executor.run(case) == executor.run(case, fresh=True)


def test_every_case_belongs_to_a_fault() -> None:
    used = {case_file(plant.fault, plant.engine) for plant in PLANTS}
    cases = case_file(PLANTS[0].fault).parent
    assert set(cases.rglob("*.sql")) == used
