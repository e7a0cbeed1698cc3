"""Instrumented cases on real DBMSs: what the versions show is what the walk finds, and nothing is made up."""

from itertools import islice
from random import Random

import pytest

from acidtest import corpus
from acidtest.claims import claims_of
from acidtest.generate import generate_cases, profile_of
from acidtest.graph import phenomena
from acidtest.instrument import NotInstrumentableError, Server, instrument
from acidtest.model import History, Phenomenon
from acidtest.oracles.graph import judge
from acidtest.oracles.observed import observed_trace
from acidtest.oracles.walks import HistoryWalk
from tests.live.bench import Benches

SERVERS = [
    pytest.param(spec, marks=pytest.mark.live(spec)) for spec in ("postgres@18", "mariadb@10.11", "mysql@9.7")
]


def shown(history: History) -> set[Phenomenon]:
    claims = claims_of(history)
    assert claims is not None
    trace = observed_trace(history, claims)
    assert trace is not None
    return {one.phenomenon for one in phenomena(trace) if one.exact}


def walked(history: History) -> set[Phenomenon]:
    return {one.phenomenon for one in HistoryWalk(history).occurrences or () if one.exact}


@pytest.mark.parametrize("spec", SERVERS)
def test_the_anomalies_have_the_same_names_by_their_versions(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    for case in corpus.anomalies():
        for level in bench.executor.target.levels:
            history = bench.run(instrument(case.at_level(level), Server.of(bench.executor.target)))
            assert shown(history) == walked(history), f"{case.id} at {level.short}"


@pytest.mark.parametrize("spec", SERVERS)
def test_generated_cases_show_nothing_that_the_level_excludes(spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    target = bench.executor.target
    for level in target.levels:
        dice = Random(f"instrument {level}")
        cases = generate_cases(dice, profile_of("mixed"), target.dbms, (level,), target.version)
        for case in islice(cases, 0, 48, 4):
            try:
                made = instrument(case, Server.of(target))
            except NotInstrumentableError:
                continue
            verdict = judge(bench.run(made))
            assert verdict is None or not verdict.is_violation, case.id
            assert verdict is None or "disagree" not in verdict.reason, case.id
