"""Operations through PyMySQL, on the servers of MySQL's family."""

import threading
from collections.abc import Iterator
from typing import Any

import pymysql
import pytest

from acidtest import servers
from acidtest.app import explore
from acidtest.casefile import parse_case
from acidtest.model import Level, Phenomenon
from acidtest.model.application import Judgement, Nature, Tried


class Database:
    """A connection for each thread."""

    def __init__(self, **place: Any) -> None:
        self._place = place
        self._local = threading.local()
        self._opened: list[Any] = []

    @property
    def connection(self) -> Any:
        if not hasattr(self._local, "connection"):
            self._local.connection = pymysql.connect(**self._place)
            self._opened.append(self._local.connection)
        return self._local.connection

    def run(self, sql: str, *values: object) -> Any:
        with self.connection.cursor() as cursor:
            count = cursor.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else count

    def close(self) -> None:
        for one in self._opened:
            one.close()


@pytest.fixture(
    scope="module",
    params=[pytest.param(spec, marks=pytest.mark.live(spec)) for spec in ("mariadb@10.11", "mysql@9.7")],
)
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    with servers.start(request.param) as server:
        address: dict[str, Any] = {"unix_socket": server.endpoint.socket, "user": server.endpoint.user}
        admin = pymysql.connect(**address)
        with admin.cursor() as cursor:
            cursor.execute("CREATE DATABASE shop")
        admin.close()
        one = Database(**address, database="shop")
        one.run("CREATE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL) ENGINE = InnoDB")
        one.run("CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(9)) ENGINE = InnoDB")
        one.run("INSERT INTO stock VALUES (1, 1)")
        one.connection.commit()
        yield one
        one.close()


def buy(database: Database, who: str) -> bool:
    """One transaction, but the row is not locked when it is read."""
    ((left,),) = database.run("SELECT n FROM stock WHERE id = %s", 1)
    if left > 0:
        database.run("UPDATE stock SET n = %s WHERE id = %s", left - 1, 1)
        database.run("INSERT INTO orders (who) VALUES (%s)", who)
    database.connection.commit()
    return bool(left > 0)


def buy_atomically(database: Database, who: str) -> bool:
    sold = database.run("UPDATE stock SET n = n - 1 WHERE id = 1 AND n > 0")
    if sold:
        database.run("INSERT INTO orders (who) VALUES (%s)", who)
    database.connection.commit()
    return bool(sold)


def test_a_lost_update_is_a_matter_of_the_level_and_a_lock_repairs_it(database: Database) -> None:
    found = explore(lambda: buy(database, "alice"), lambda: buy(database, "bob"))
    race = found.race
    assert race is not None
    assert found.coverage.runs <= 3
    assert found.level is Level.REPEATABLE_READ
    assert race.phenomenon is Phenomenon.P4
    assert race.nature is Nature.LEVEL
    tried = {one.name: one.tried for one in race.remedies}
    assert tried["lock"] is Tried.HELD
    assert tried["SER with retry"] is Tried.HELD
    assert [one.sql for one in parse_case(race.case, "case.sql").transaction("A").statements] == [
        "BEGIN",
        "SELECT n FROM stock WHERE id = 1",
        "UPDATE stock SET n = 0 WHERE id = 1",
        "INSERT INTO orders (who) VALUES ('alice')",
        "COMMIT",
    ]


def test_one_statement_holds(database: Database) -> None:
    found = explore(lambda: buy_atomically(database, "alice"), lambda: buy_atomically(database, "bob"))
    assert found.judgement is Judgement.HOLDS
    assert found.coverage.prevented > 0
