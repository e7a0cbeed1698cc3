"""Operations of small applications on a real PostgreSQL, through psycopg 3: found, explained, replayed."""

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest

from acidtest import servers
from acidtest.app import explore
from acidtest.casefile import check, parse_case
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.model import Level, Phenomenon
from acidtest.model.application import Judgement, Nature, Reason, Tried
from acidtest.report.application import exploration_json
from acidtest.targets.resolve import open_target

pytestmark = pytest.mark.live("postgres@18")

SCHEMA = """
CREATE TABLE stock (id int PRIMARY KEY, left_ int NOT NULL);
CREATE TABLE orders (id serial PRIMARY KEY, who text, at timestamptz DEFAULT clock_timestamp());
CREATE TABLE doctor (id int PRIMARY KEY, on_call boolean NOT NULL);
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO stock VALUES (1, 1);
INSERT INTO doctor VALUES (1, true), (2, true);
INSERT INTO account VALUES (1, 100), (2, 0);
"""


class Database:
    """The application's way to its database: a connection for each thread."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self._local = threading.local()
        self._opened: list[psycopg.Connection[Any]] = []

    @property
    def connection(self) -> "psycopg.Connection[Any]":
        if not hasattr(self._local, "connection"):
            self._local.connection = psycopg.connect(self.conninfo, autocommit=True)
            self._opened.append(self._local.connection)
        found: psycopg.Connection[Any] = self._local.connection
        return found

    def close(self) -> None:
        for one in self._opened:
            one.close()


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with servers.start("postgres@18") as server:
        place = server.tcp_endpoint
        assert place is not None
        conninfo = (
            f"host={place.host} port={place.port} user={place.user} password={place.password} dbname=postgres"
        )
        one = Database(conninfo)
        one.connection.execute(SCHEMA)
        yield one
        one.close()


def buy(database: Database, who: str) -> bool:
    """Checks in one transaction and writes in another: scope."""
    connection = database.connection
    row = connection.execute("SELECT left_ FROM stock WHERE id = %s", [1]).fetchone()
    assert row is not None
    if row[0] < 1:
        return False
    with connection.transaction():
        connection.execute("UPDATE stock SET left_ = %s WHERE id = 1", [row[0] - 1])
        connection.execute("INSERT INTO orders (who) VALUES (%s)", [who])
    return True


def buy_atomically(database: Database, who: str) -> bool:
    connection = database.connection
    with connection.transaction():
        if not connection.execute("UPDATE stock SET left_ = left_ - 1 WHERE id = 1 AND left_ > 0").rowcount:
            return False
        connection.execute("INSERT INTO orders (who) VALUES (%s)", [who])
    return True


def leave(database: Database, doctor: int) -> None:
    """Two doctors leave at once, each because the other is there: level."""
    connection = database.connection
    with connection.transaction():
        row = connection.execute("SELECT count(*) FROM doctor WHERE on_call").fetchone()
        assert row is not None
        if row[0] > 1:
            connection.execute("UPDATE doctor SET on_call = false WHERE id = %s", [doctor])


def pair(operation: Callable[..., Any], database: Database, *given: Any) -> list[Callable[[], Any]]:
    return [partial(operation, database, one) for one in given]


def test_the_last_item_is_sold_twice(database: Database) -> None:
    found = explore(*pair(buy, database, "alice", "bob"))
    assert found.judgement is Judgement.VIOLATED
    assert found.coverage.runs <= 3
    race = found.race
    assert race is not None
    assert race.reasons == (Reason.STATE,)
    assert json.loads(json.dumps(exploration_json(found), default=str))["race"]["replay"] == race.replay
    assert race.phenomenon is Phenomenon.P4
    assert race.nature is Nature.SCOPE
    assert all(one.violated for one in race.levels)
    held = {one.name for one in race.remedies if one.tried is Tried.HELD}
    assert "one transaction and lock" in held
    assert "lock" not in held
    source = race.run.calls[0].source
    assert source is not None
    assert source.function == "buy"
    assert "SELECT left_" in source.text


def test_its_case_file_shows_the_same(database: Database) -> None:
    race = explore(*pair(buy, database, "alice", "bob"), remedies=False).race
    assert race is not None
    case = parse_case(race.case, "case.sql")
    url = f"postgresql://{_address(database)}"
    with open_target(url) as target, Examiner(target, ()) as examiner:
        run = examiner.examine(case)
    assert check(run.history) == ()


def test_one_statement_holds(database: Database) -> None:
    found = explore(*pair(buy_atomically, database, "alice", "bob"))
    assert found.judgement is Judgement.HOLDS
    assert found.coverage.runs == found.coverage.candidates > 0
    assert found.coverage.unexplored == 0


def test_write_skew_is_a_matter_of_the_level(database: Database) -> None:
    race = explore(*pair(leave, database, 1, 2)).race
    assert race is not None
    assert race.nature is Nature.LEVEL
    by_level = {one.level: one for one in race.levels}
    assert by_level[Level.REPEATABLE_READ].violated
    assert not by_level[Level.SERIALIZABLE].violated
    tried = {one.name: one for one in race.remedies}
    assert tried["SER with retry"].tried is Tried.HELD
    assert tried["RR with retry"].tried is Tried.FAILED
    assert tried["lock"].tried is Tried.NOT_TRIED  # an aggregate has no rows to lock


def test_other_rows_are_safe_by_analysis(database: Database) -> None:
    def one(account: int) -> None:
        connection = database.connection
        with connection.transaction():
            connection.execute("SELECT balance FROM account WHERE id = %s", [account])
            connection.execute("UPDATE account SET balance = 1 WHERE id = %s", [account])

    found = explore(lambda: one(1), lambda: one(2))
    assert found.judgement is Judgement.HOLDS
    assert found.safe_by_analysis
    assert found.coverage.runs == 0


def test_a_replay_shows_it_ten_times_of_ten(database: Database) -> None:
    first = explore(*pair(buy, database, "alice", "bob"), remedies=False)
    assert first.race is not None
    for _ in range(10):
        again = explore(*pair(buy, database, "alice", "bob"), replay=first.race.replay, remedies=False)
        assert again.judgement is Judgement.VIOLATED


def test_an_invariant_is_enough(database: Database) -> None:
    def pay() -> None:
        connection = database.connection
        connection.execute("UPDATE account SET balance = balance - 10 WHERE id = 1")
        connection.execute("UPDATE account SET balance = balance + 10 WHERE id = 2")

    total = "SELECT sum(balance) = 100 FROM account"
    assert explore(pay, at_end=total).judgement is Judgement.HOLDS
    found = explore(pay, always=total, runs=3)
    assert found.judgement is Judgement.VIOLATED
    assert found.race is not None
    assert found.race.reasons == (Reason.INVARIANT,)


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (
            lambda database: database.connection.execute("SELECT nonsense FROM stock"),
            "fails when it runs alone",
        ),
        (lambda database: None, "sent no statement"),
    ],
    ids=["fails alone", "no statement"],
)
def test_operations_that_cannot_be_explored(
    database: Database, operation: Callable[[Database], Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        explore(lambda: operation(database))


def test_a_reset_that_does_not_restore_is_refused(database: Database) -> None:
    try:
        with pytest.raises(UsageError, match="the reset does not restore the table orders"):
            explore(*pair(buy, database, "alice", "bob"), reset=lambda: None)
    finally:
        database.connection.execute("UPDATE stock SET left_ = 1; TRUNCATE orders")


def test_one_exploration_at_a_time(database: Database) -> None:
    def nested() -> None:
        explore(lambda: buy(database, "eve"))

    with pytest.raises(UsageError, match="already at work"):
        explore(nested)


def test_an_operation_that_never_ends_is_told(database: Database) -> None:
    never = threading.Event()

    def hang() -> None:
        database.connection.execute("SELECT left_ FROM stock")
        never.wait()

    try:
        with pytest.raises(UsageError, match="it never ends"):
            explore(hang, hang_s=0.3)
    finally:
        never.set()


def test_a_lock_of_the_application_s_own_prevents_an_order(database: Database) -> None:
    """What waits outside the database is neither hung nor forced: the other goes on."""
    lock = threading.Lock()

    def one() -> None:
        with lock:
            database.connection.execute("SELECT left_ FROM stock WHERE id = 1")
            database.connection.execute("UPDATE stock SET left_ = left_ + 0 WHERE id = 1")

    found = explore(one, runs=1)
    assert found.judgement is Judgement.HOLDS
    assert found.coverage.prevented == 1


def test_all_tables_are_as_before(database: Database) -> None:
    rows = database.connection.execute(
        "SELECT * FROM stock UNION ALL SELECT id, balance FROM account ORDER BY 1, 2"
    )
    assert rows.fetchall() == [(1, 1), (1, 100), (2, 0)]


def _address(database: Database) -> str:
    parts = dict(part.split("=", 1) for part in database.conninfo.split())
    return f"{parts['user']}:{parts['password']}@{parts['host']}:{parts['port']}/postgres"
