"""A few thousand cells against real servers; `python -m tests.evaluator.differential` does millions."""

from random import Random

import pytest

from tests.evaluator import cases
from tests.evaluator.differential import run
from tests.evaluator.server import open_server
from tests.evaluator.tally import Tally

CELLS = 4000
STATEMENTS = 300


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("mariadb@10.11", marks=pytest.mark.live("mariadb@10.11")),
        pytest.param("mysql@9.7", marks=pytest.mark.live("mysql@9.7")),
        pytest.param("postgres", marks=pytest.mark.live("postgres")),
    ],
)
def test_the_evaluator_agrees_with_the_server(spec: str) -> None:
    tally = compared(spec)
    assert tally.unknown_share < 0.2, tally.report()


@pytest.mark.parametrize("spec", ["sqlite", "duckdb"])
def test_the_evaluator_agrees_with_an_engine_in_this_process(spec: str) -> None:
    """These dialects know what the generator writes, which is less than what is asked here."""
    compared(spec)


def compared(spec: str) -> Tally:
    """Enough cells of random expressions, queries and updates, all of which agreed."""
    server = open_server(spec)
    tally = Tally()
    try:
        run(server, Random(20), CELLS, tally)
    finally:
        server.close()
    assert not tally.disagreements, tally.report()
    assert tally.cells >= CELLS
    return tally


SERVERS = [
    pytest.param("mariadb@10.11", marks=pytest.mark.live("mariadb@10.11")),
    pytest.param("mysql@9.7", marks=pytest.mark.live("mysql@9.7")),
    pytest.param("postgres", marks=pytest.mark.live("postgres")),
    pytest.param("tidb@5.4.2", marks=pytest.mark.live("tidb@5.4.2")),
    "sqlite",
    "duckdb",
]


@pytest.mark.parametrize("spec", SERVERS)
def test_the_evaluator_agrees_on_the_statements_of_cases(spec: str) -> None:
    tally = statements_compared(spec, "rich")
    assert sum(tally.unknown.values()) < STATEMENTS / 10, tally.report()


@pytest.mark.parametrize("spec", [one for one in SERVERS if "tidb" not in str(one)])
def test_the_evaluator_agrees_on_keys_upserts_joins_and_merges(spec: str) -> None:
    """Not on TiDB, which loses the connection at UPDATE .. SET c = DEFAULT WHERE key = ..."""
    tally = statements_compared(spec, "features")
    assert sum(tally.unknown.values()) < STATEMENTS / 4, tally.report()


def statements_compared(spec: str, profile: str) -> Tally:
    """Statements on what those before them have left, all of which agreed."""
    server = open_server(spec, tables=False)
    tally = Tally()
    try:
        done = cases.run(server, Random(20), profile, STATEMENTS, tally)
    finally:
        server.close()
    assert not tally.disagreements, tally.report()
    assert done >= STATEMENTS
    return tally
