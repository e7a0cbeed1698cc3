"""Of every golden history the oracles say what they said before."""

import pytest

from acidtest import corpus
from acidtest.claims.deviations import DEVIATIONS
from tests.golden.judging import UNEXPLAINED, said_of
from tests.golden.record import to_be_recorded
from tests.golden.store import FOLDER, histories_of, servers, verdicts_of

SERVERS = servers()

NEVER_SEEN = {"MYSQL-100328"}
"""Deviations that no golden history shows."""

NEW: dict[str, str] = {}
"""Histories that are violations without an explanation: each was looked at."""

UNDECIDED_SHARE = {"mysql-5.6": 0.225}
"""How many may be undecided, where it is more than 5 %."""


def test_there_are_histories_of_every_kind_of_server() -> None:
    dbmss = {histories_of(server)[0].history.dbms for server in SERVERS}
    assert dbmss == {"postgres", "mariadb", "mysql", "tidb", "seekdb", "sqlite", "duckdb"}


@pytest.mark.parametrize("server", SERVERS)
def test_golden_histories_are_judged_as_before(server: str) -> None:
    said = {one.id: said_of(one.history) for one in histories_of(server)}
    assert said == verdicts_of(server), "if that is right: python -m tests.golden.record --judge"


@pytest.mark.parametrize("server", SERVERS)
def test_the_whole_corpus_is_recorded(server: str) -> None:
    golden = histories_of(server)
    first = golden[0].history
    names = {one.id.rpartition("@")[0] for one in golden}
    assert {case.id for case in to_be_recorded(first.dbms, first.version)} <= names


@pytest.mark.parametrize("server", SERVERS)
def test_few_golden_histories_are_undecided(server: str) -> None:
    # Bugs use whatever SQL they need; how many of them no oracle decides is a question of its own.
    bugs = {case.id for case in corpus.bugs()}
    said = [one for name, one in verdicts_of(server).items() if name.rpartition("@")[0] not in bugs]
    undecided = [one for one in said if one.startswith("solver: unknown")]
    assert len(undecided) <= UNDECIDED_SHARE.get(server, 0.05) * len(said)


def test_what_is_new_was_looked_at() -> None:
    new = {
        f"{server} {name}"
        for server in SERVERS
        for name, said in verdicts_of(server).items()
        if said.endswith(UNEXPLAINED)
    }
    assert new == NEW.keys()


def test_every_deviation_explains_a_golden_history() -> None:
    said = " ".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.verdicts"))
    assert {one.known.id for one in DEVIATIONS if one.known.id not in said} == NEVER_SEEN
