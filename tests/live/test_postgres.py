"""What only PostgreSQL needs: nothing of a case outlives it, and who waits is told without ourselves."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import pytest

from acidtest.model import ErrorKind, Failed, Rows, Undone
from acidtest.targets import Target
from acidtest.targets.resolve import DBMSS, make_target, open_target
from tests.conformance.driver import Driver
from tests.conformance.profiles import SETUP


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with open_target("postgres") as opened:
        yield opened


@pytest.fixture
def driver(target: Target) -> Iterator[Driver]:
    target.rebuild(SETUP)
    driver = Driver(target)
    yield driver
    driver.close()


def names(driver: Driver, catalogue: str, column: str) -> set[str]:
    (session,) = driver.open()
    found = {str(name) for (name,) in driver.rows(session, f"SELECT {column} FROM {catalogue}")}
    session.close()
    return found


@pytest.mark.parametrize(
    ("catalogue", "column", "statement"),
    [
        ("pg_roles", "rolname", "CREATE ROLE left_behind"),
        (
            "pg_roles",
            "rolname",
            "DO 'BEGIN CREATE ROLE left_behind; GRANT SELECT ON parent TO left_behind; END'",
        ),
        ("pg_event_trigger", "evtname", None),
        ("pg_foreign_data_wrapper", "fdwname", "CREATE FOREIGN DATA WRAPPER left_behind"),
        ("pg_publication", "pubname", "CREATE PUBLICATION left_behind"),
        ("pg_largeobject_metadata", "oid", "SELECT lo_create(4711)"),
        ("pg_db_role_setting", "setconfig", "ALTER ROLE CURRENT_USER SET work_mem = '7MB'"),
        ("pg_default_acl", "defaclacl", "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC"),
    ],
)
def test_nothing_outlives_its_case(
    target: Target, driver: Driver, catalogue: str, column: str, statement: str | None
) -> None:
    before = names(driver, catalogue, column)
    (session,) = driver.open()
    if statement is None:
        driver.succeed(
            session,
            "CREATE FUNCTION quiet() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
            "CREATE EVENT TRIGGER left_behind ON ddl_command_start EXECUTE PROCEDURE quiet()",
        )
    else:
        driver.succeed(session, statement)
    assert names(driver, catalogue, column) != before
    target.rebuild(SETUP)
    assert names(Driver(target), catalogue, column) == before


def test_a_role_of_the_set_up_does_not_reach_the_next_case(target: Target) -> None:
    setup = ["CREATE ROLE actor", "CREATE TABLE t (a INT)", "GRANT ALL ON t TO actor"]
    target.rebuild(setup)
    target.rebuild(setup)
    driver = Driver(target)
    (session,) = driver.open()
    # The schema is open to everybody, as in a new database.
    driver.succeed(session, "SET ROLE actor", "INSERT INTO t VALUES (1)", "RESET ROLE")
    target.rebuild([])
    assert "actor" not in names(Driver(target), "pg_roles", "rolname")


def test_on_a_server_of_others_only_roles_that_the_case_created_are_dropped(target: Target) -> None:
    """Not even a database whose name the case mentions: acidtest drops only those that it made and marked."""
    endpoint = target.endpoint  # type: ignore[attr-defined]
    with make_target(DBMSS["postgres"])(endpoint, "theirs", None) as theirs:
        theirs.rebuild(["CREATE ROLE of_the_case", "COMMENT ON ROLE of_the_case IS 'orders of_somebody'"])
        somebody = Driver(target)
        (session,) = somebody.open()
        somebody.succeed(session, "CREATE ROLE of_somebody")
        somebody.succeed(session, "CREATE DATABASE orders")
        theirs.rebuild([])
        roles = names(Driver(theirs), "pg_roles", "rolname")
        assert "of_the_case" not in roles
        assert "of_somebody" in roles
        assert "orders" in names(Driver(theirs), "pg_database", "datname")
    target.rebuild([])
    assert "of_somebody" not in names(Driver(target), "pg_roles", "rolname")
    assert "orders" not in names(Driver(target), "pg_database", "datname")


def test_a_damaged_catalogue_costs_one_case(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    driver.succeed(
        session, "SET allow_system_table_mods = on", "DELETE FROM pg_class WHERE relname = 'parent'"
    )
    target.rebuild(SETUP)
    assert [table.name for table in target.schema().tables] == ["child", "parent"]
    assert len(target.state(["parent"])["parent"]) == 3


def test_a_prepared_transaction_blocks_while_it_lasts_and_ends_with_its_case(
    target: Target, driver: Driver
) -> None:
    one, other = driver.open(2)
    driver.succeed(one, "BEGIN", "UPDATE parent SET v = 11 WHERE id = 1", "PREPARE TRANSACTION 'half'")
    waits = driver.launch_waiting(other, "UPDATE parent SET v = 12 WHERE id = 1")
    assert waits[other] == frozenset()
    target.cancel(other)
    driver.reply(other)
    target.rebuild(SETUP)
    assert names(Driver(target), "pg_prepared_xacts", "gid") == set()
    assert target.state(["parent"])["parent"][0] == (1, 10, "a", 1)


def test_the_watch_is_nobody_s_blocker(target: Target, driver: Driver) -> None:
    holder, worker = driver.open(2)
    driver.succeed(holder, "BEGIN", "INSERT INTO parent VALUES (7, 7, 'g', 7)")
    waits = driver.launch_waiting(worker, "REINDEX TABLE CONCURRENTLY parent")
    assert waits[worker] == {holder}
    driver.succeed(holder, "COMMIT")
    assert not isinstance(driver.reply(worker).outcome, Failed)


def test_a_session_that_is_cut_off_says_why_in_the_server_s_own_words(driver: Driver) -> None:
    one, other = driver.open(2)
    ((pid,),) = driver.rows(one, "SELECT pg_backend_pid()")
    driver.succeed(other, f"SELECT pg_terminate_backend({pid!s})")
    text = "terminating connection due to administrator command"
    lost = Failed(ErrorKind.CONNECTION_LOST, "57P01", text, Undone.CONNECTION)
    assert driver.run(one, "SELECT 1").outcome == lost


def test_values_for_placeholders_go_beside_the_statement(driver: Driver) -> None:
    (session,) = driver.open()
    session.launch("SELECT v, s FROM parent WHERE id = $1 AND s = $2", (2, "b"))
    assert driver.reply(session).outcome == Rows(("v", "s"), ((20, "b"),))
    values = (None, True, 1.5, Decimal("2.50"), b"\x00\xff", date(2024, 2, 29), "it's", timedelta(days=1))
    types = ("int", "bool", "float8", "numeric", "bytea", "date", "text", "interval")
    columns = ", ".join(f"${i}::{type_}" for i, type_ in enumerate(types, 1))
    session.launch(f"SELECT {columns}", values)
    outcome = driver.reply(session).outcome
    assert isinstance(outcome, Rows)
    assert outcome.rows == ((*values[:-1], "1 day"),)
