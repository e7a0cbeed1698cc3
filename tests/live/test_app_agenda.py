"""AGENDA's own examples: found, named, and proven fixed."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from examples.app.agenda import figures

from acidtest import servers
from acidtest.app import explore
from acidtest.errors import UsageError
from acidtest.model import Level, Phenomenon
from acidtest.model.application import Judgement, Nature, Reason, Tried

pytestmark = pytest.mark.live("postgres@18")

Do = Callable[..., Callable[[], Any]]


@pytest.fixture(scope="module")
def do() -> Iterator[Do]:
    """Calls of functions that take a connection first; each thread has one of its own."""
    opened: list[figures.Connection] = []
    local = threading.local()
    with servers.start("postgres@18") as server:
        place = server.tcp_endpoint
        assert place is not None

        def connection() -> figures.Connection:
            if not hasattr(local, "connection") or local.connection.closed:
                local.connection = psycopg.connect(
                    host=place.host,
                    port=place.port,
                    user=place.user,
                    password=place.password,
                    dbname="postgres",
                )
                local.connection.autocommit = True
                opened.append(local.connection)
            found: figures.Connection = local.connection
            return found

        connection().execute(figures.SCHEMA)
        yield lambda function, *given: lambda: function(connection(), *given)
        for one in opened:
            one.close()


def test_figure_2_loses_a_booking_and_a_lock_in_one_transaction_repairs_it(do: Do) -> None:
    found = explore(do(figures.choose_seat, 7))
    race = found.race
    assert race is not None
    assert found.coverage.runs <= 3
    assert race.phenomenon is Phenomenon.P4
    assert race.nature is Nature.SCOPE
    tried = {one.name: one.tried for one in race.remedies}
    assert tried["one transaction and lock"] is Tried.HELD
    assert tried["one transaction"] is Tried.FAILED
    assert tried["atomic update"] is Tried.HELD
    assert explore(do(figures.choose_seat_repaired, 7)).judgement is Judgement.HOLDS


def test_figure_3_delivers_what_it_did_not_count(do: Do) -> None:
    found = explore(do(figures.delivery, 1), do(figures.new_order, 1, 5))
    race = found.race
    assert race is not None
    assert found.coverage.runs <= 3
    assert race.reasons == (Reason.STATE,)
    assert race.nature is Nature.SCOPE
    assert {one.name: one.tried for one in race.remedies}["one transaction at SER with retry"] is Tried.HELD
    repaired = explore(do(figures.delivery_repaired, 1), do(figures.new_order, 1, 5))
    assert repaired.judgement is Judgement.HOLDS


def test_figure_6_loses_money_when_it_stops_between_its_commits(do: Do) -> None:
    found = explore(do(figures.transfer, 1, 30), crash=True, at_end=figures.TOTAL)
    race = found.race
    assert race is not None
    assert race.replay == "A3-stop"
    assert [one.tried for one in race.remedies] == [Tried.HELD]
    repaired = explore(do(figures.transfer_repaired, 1, 30), crash=True, at_end=figures.TOTAL)
    assert repaired.judgement is Judgement.HOLDS


def test_crashing_needs_an_invariant(do: Do) -> None:
    with pytest.raises(UsageError, match="needs an invariant"):
        explore(do(figures.transfer, 1, 30), crash=True)


def test_levels_are_explored_one_by_one(do: Do) -> None:
    found = explore(do(figures.choose_seat, 7), levels=["RC", "SERIALIZABLE"], remedies=False)
    assert found.at_levels == {
        Level.READ_COMMITTED.value: Judgement.VIOLATED,
        Level.SERIALIZABLE.value: Judgement.VIOLATED,
    }
