"""TxCheck's figures as case files, with the graphs of their statements; Figure 3: test_graph_statements."""

from dataclasses import replace
from pathlib import Path

import pytest

from acidtest import corpus
from acidtest.casefile import load_case
from acidtest.claims import claims_of
from acidtest.execute import Executor
from acidtest.graph import phenomena, statement_dependencies
from acidtest.instrument import Server, instrument, probes_of
from acidtest.model import Affected, Case, History, Phenomenon, Row, Rows, Trace
from acidtest.model import StatementDependencyKind as Kind
from acidtest.oracles.observed import observed_trace
from acidtest.oracles.walks import HistoryWalk
from acidtest.targets.resolve import open_target

FIGURES = Path(__file__).parent / "figures"


def figure(number: int) -> Case:
    return load_case(FIGURES / f"txcheck-{number}.sql")


def run(case: Case, *, instrumented: bool = False) -> History:
    with open_target("simulated") as target, Executor(target) as executor:
        return executor.run(instrument(case, Server.of(target)) if instrumented else case)


def walked(case: Case) -> Trace:
    trace = HistoryWalk(run(case)).trace
    assert trace is not None
    return trace


def edges(trace: Trace) -> set[tuple[Kind, int, int]]:
    return {(one.kind, one.source, one.target) for one in statement_dependencies(trace)}


def test_figure_1_an_update_sees_more_than_the_read_before_it() -> None:
    case = load_case(corpus.find("MYSQL-108528"))
    trace = walked(case)
    found = {one.phenomenon for one in phenomena(trace)}
    # The paper calls it a bug; InnoDB's claim has it: a write sees what is newer than the snapshot.
    assert Phenomenon.G_SINGLE in found
    steps = {step.index: step.sql for step in case.steps}
    kinds = {
        (one.kind, steps[one.source][:6], steps[one.target][:6]) for one in statement_dependencies(trace)
    }
    assert (Kind.ITEM_ANTI, "SELECT", "UPDATE") in kinds


def test_figure_11_a_probe_before_a_statement_that_waits_is_torn() -> None:
    history = run(figure(11), instrumented=True)
    probes = probes_of(history)
    (delete,) = [record for record in history.records if record.sql.startswith("DELETE")]
    # The probe locks as the statement does, so it waits in its place, and the two stay together.
    assert probes.before[delete.step].waited
    assert isinstance(delete.outcome, Affected)
    assert delete.outcome.count == 0
    assert probes.torn == frozenset()


def test_figure_11_as_a_plain_probe_is_found_torn() -> None:
    case = instrument(figure(11), _server())
    plain = [
        replace(
            one,
            statements=tuple(replace(two, sql=two.sql.replace(" FOR UPDATE", "")) for two in one.statements),
        )
        for one in case.transactions
    ]
    history = run(replace(case, transactions=tuple(plain)))
    assert len(probes_of(history).torn) == 1
    claims = claims_of(history)
    assert claims is not None
    trace = observed_trace(history, claims)
    assert trace is not None
    assert "a DELETE of other rows than were seen before it" in trace.gaps


def _server() -> Server:
    with open_target("simulated") as target:
        return Server.of(target)


def test_figure_13_what_a_snapshot_misses_is_named() -> None:
    right = run(figure(13), instrumented=True)
    old: tuple[Row, ...] = ((1, 10, 1, 0, None),)
    stale = tuple(
        replace(record, outcome=Rows(record.outcome.columns, old))
        if isinstance(record.outcome, Rows) and record.session == "tx1"
        else record
        for record in right.records
    )
    told = replace(right, records=stale)
    claims = claims_of(told)
    assert claims is not None
    trace = observed_trace(told, claims)
    assert trace is not None
    assert [one.phenomenon for one in phenomena(trace)] == [Phenomenon.G_SIB]


def test_figure_14_what_was_rolled_back_has_no_part_in_the_graph() -> None:
    assert edges(walked(figure(14))) == set()


def test_figure_15_the_count_comes_after_the_update() -> None:
    assert edges(walked(figure(15))) == {(Kind.ITEM_READ, 1, 2)}


@pytest.mark.parametrize("number", [11, 13, 14, 15])
def test_a_figure_is_a_case_file(number: int) -> None:
    assert figure(number).links
