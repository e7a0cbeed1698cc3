"""The flow on one target: a server that dies between two cases."""

from dataclasses import replace
from random import Random

import pytest

from acidtest.campaign.statistics import Statistics
from acidtest.execute import DiedLaterError, Executor
from acidtest.generate import SIMPLE
from acidtest.model import Case, History
from acidtest.pipeline import Pipeline
from acidtest.targets.resolve import open_target


def test_a_death_between_two_cases_is_told_of_the_first_and_the_second_is_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Executor.run
    told: list[History] = []

    def die_once(self: Executor, case: Case, fresh: bool = False) -> History:
        if len(told) == 1:
            told.append(replace(told[0], died=True))
            raise DiedLaterError(told[1], "gone")
        told.append(run(self, case, fresh))
        return told[-1]

    monkeypatch.setattr(Executor, "run", die_once)
    with open_target("sqlite") as target, Pipeline(target, ("crash",), SIMPLE) as pipeline:
        trials = pipeline.examine(Random(1), (target.default_level,), "late")
        first, second, third = (next(trials) for _ in range(3))
    assert first.late is None
    assert first.examined is not None
    assert first.examined.violation is None
    assert second.late is not None
    assert second.late.history.case == first.case
    assert second.late.violation is not None
    assert second.examined is not None
    assert second.examined.history.case == second.case
    assert third.late is None
    # with what a campaign counts: the first case, which was clean when it was counted, is the violation
    statistics = Statistics()
    for trial in (first, second, third):
        statistics.count(trial)
    assert (statistics.cases, statistics.violations) == (3, 1)
    assert +statistics.oracles == {"crash pass": 2, "crash violation": 1}
