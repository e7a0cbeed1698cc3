"""What a case leaves on the whole server (prepared XA transactions, globals, schemas, users) ends with it."""

from collections.abc import Iterator

import pytest

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.model import Affected, Failed
from acidtest.targets import Target
from acidtest.targets.resolve import DBMSS, make_target, open_target
from tests.conformance.driver import Driver
from tests.conformance.profiles import SETUP
from tests.conftest import provide


@pytest.fixture(scope="module", params=["mariadb@10.11", "mysql@9.7"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    provide(request.param)
    with open_target(request.param) as opened:
        yield opened


@pytest.fixture
def driver(target: Target) -> Iterator[Driver]:
    target.rebuild(SETUP)
    driver = Driver(target)
    yield driver
    driver.close()


PREPARED = parse_case(
    """\
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ XA START 'left';
/* tx1 */ UPDATE t SET b = 2;
/* tx1 */ XA END 'left';
/* tx1 */ XA PREPARE 'left';
""",
    "prepared",
)
NEXT = parse_case(
    """\
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 3;
/* tx1 */ COMMIT;
""",
    "next",
)


@pytest.mark.parametrize("fresh", [True, False])
def test_a_prepared_transaction_does_not_reach_the_next_case(target: Target, fresh: bool) -> None:
    with Executor(target) as executor:
        for _ in range(2):
            history = executor.run(PREPARED, fresh=fresh)
            assert not any(isinstance(record.outcome, Failed) for record in history.records)
            assert history.final == {"t": ((1, 1),)}
            after = executor.run(NEXT, fresh=fresh)
            assert [record.outcome for record in after.records] == [Affected(0), Affected(1, 1), Affected(0)]
            assert after.final == {"t": ((1, 3),)}


def test_a_prepared_transaction_of_a_lost_session_is_rolled_back(target: Target, driver: Driver) -> None:
    one, other = driver.open(2)
    driver.succeed(one, "XA START 'lost', 'b', 7", "UPDATE parent SET v = 0", "XA END 'lost', 'b', 7")
    driver.succeed(one, "XA PREPARE 'lost', 'b', 7")
    one.close()
    target.rebuild(SETUP)
    assert driver.rows(other, "XA RECOVER") == ()
    driver.succeed(other, "UPDATE parent SET v = 0")


def test_globals_are_put_back(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    question = "SELECT @@global.sql_mode, @@global.innodb_lock_wait_timeout, @@global.read_only"
    before = driver.rows(session, question)
    driver.succeed(
        session,
        "SET GLOBAL innodb_lock_wait_timeout = 7, GLOBAL sql_mode = ''",
        "SET @@global.read_only = 1",
    )
    assert driver.rows(session, question) != before
    target.rebuild(SETUP)
    assert driver.rows(session, question) == before


def test_a_server_that_was_made_read_only_can_be_written_again() -> None:
    provide("mysql@9.7")
    with open_target("mysql@9.7") as target:
        target.rebuild(SETUP)
        driver = Driver(target)
        (session,) = driver.open()
        driver.succeed(session, "SET PERSIST super_read_only = ON")
        target.rebuild(SETUP)
        driver.succeed(session, "DELETE FROM child")
        question = "SELECT VARIABLE_NAME FROM performance_schema.persisted_variables"
        assert driver.rows(session, question) == ()
        assert driver.rows(session, "SELECT @@read_only, @@super_read_only") == ((0, 0),)
        driver.close()


def test_schemas_users_and_roles_of_a_case_go(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    question = "SELECT User FROM mysql.user WHERE User LIKE 'left%'"
    driver.succeed(
        session,
        "CREATE DATABASE left_behind",
        "CREATE TABLE left_behind.t (a INT)",
        "CREATE USER left_user@localhost",
        "CREATE ROLE left_role",
    )
    assert len(driver.rows(session, question)) == 2
    target.rebuild(SETUP)
    assert driver.rows(session, question) == ()
    assert driver.rows(session, "SHOW DATABASES LIKE 'left%'") == ()


def test_on_a_server_of_others_only_users_go_that_the_case_created(target: Target) -> None:
    endpoint = target.endpoint  # type: ignore[attr-defined]
    users = "SELECT User FROM mysql.user WHERE User LIKE 'of\\_%' ORDER BY User"
    databases = "SHOW DATABASES LIKE 'of\\_%'"
    with make_target(DBMSS[target.dbms])(endpoint, "theirs", None) as theirs:
        theirs.rebuild(["CREATE DATABASE of_the_case", "CREATE USER of_the_case@localhost"])
        somebody = Driver(target)
        (session,) = somebody.open()
        somebody.succeed(session, "CREATE USER of_somebody@localhost")
        assert somebody.rows(session, users) == (("of_somebody",), ("of_the_case",))
        theirs.rebuild([])
        assert somebody.rows(session, users) == (("of_somebody",),)
        assert somebody.rows(session, databases) == (("of_the_case",),)
        somebody.close()
    target.rebuild([])


def test_an_open_xa_transaction_leaves_its_session_usable(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    driver.succeed(session, "XA START 'open'", "UPDATE parent SET v = 0")
    target.clean(session, thorough=True)
    driver.succeed(
        session, "UPDATE parent SET v = 1", "XA START 'open'", "XA END 'open'", "XA ROLLBACK 'open'"
    )
