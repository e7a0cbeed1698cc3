"""The private database: built, refilled and described; made and dropped without touching another."""

import pytest

from acidtest.errors import UsageError
from acidtest.targets import Target
from acidtest.targets.resolve import open_target
from tests.conformance.driver import Driver
from tests.conformance.profiles import SETUP, Profile


def test_the_schema_is_told_in_full(target: Target, driver: Driver) -> None:
    del driver  # has built the tables
    schema = target.schema()
    assert [table.name for table in schema.tables] == ["child", "parent"]
    parent = schema.table("parent")
    assert [(column.name, column.nullable) for column in parent.columns] == [
        ("id", parent.columns[0].nullable),
        ("v", False),
        ("s", True),
        ("small", True),
    ]
    assert all(column.type for column in parent.columns)
    (key,) = [index for index in parent.indexes if index.primary]
    assert (key.columns, key.unique) == (("id",), True)


def test_indexes_defaults_and_unique_keys_are_in_the_schema(target: Target) -> None:
    target.rebuild(
        [
            "CREATE TABLE t (a INT PRIMARY KEY, b INT DEFAULT 5, c INT, UNIQUE (b, c))",
            "CREATE INDEX by_c ON t (c, a)",
        ]
    )
    table = target.schema().table("t")
    assert "5" in str(table.columns[1].default)
    found = {index.columns: index.unique for index in table.indexes}
    assert found == {("a",): True, ("b", "c"): True, ("c", "a"): False}


def test_the_state_is_the_committed_rows_in_a_fixed_order(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    driver.succeed(session, "BEGIN", "INSERT INTO parent VALUES (0, 0, NULL, NULL)")
    assert [row[0] for row in target.state(["parent"])["parent"]] == [1, 2, 3]
    driver.succeed(session, "COMMIT")
    state = target.state(["parent", "child"])
    assert list(state) == ["child", "parent"]
    assert state["parent"][0] == (0, 0, None, None)
    assert target.state([]) == {}


def test_rebuilding_leaves_nothing_of_what_was_there(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    driver.succeed(session, "CREATE VIEW seen AS SELECT id FROM parent")
    target.rebuild(["CREATE TABLE other (id INT)"])
    assert [table.name for table in target.schema().tables] == ["other"]
    driver.succeed(session, "CREATE TABLE seen (id INT)")
    target.rebuild([])
    assert target.schema().tables == ()


def test_refilling_brings_back_the_rows_whatever_happened(target: Target, driver: Driver) -> None:
    (session,) = driver.open()
    fresh = target.state(["parent", "child"])
    for _ in range(3):
        driver.succeed(session, "DELETE FROM child", "UPDATE parent SET v = 0, s = NULL")
        target.refill(["child", "parent"], SETUP[2:])
        assert target.state(["parent", "child"]) == fresh


def test_refilling_minds_no_order_of_the_foreign_keys(target: Target, driver: Driver) -> None:
    del driver
    for tables in (["parent", "child"], ["child", "parent"]):
        target.refill(tables, SETUP[2:])
        assert len(target.state(["child"])["child"]) == 1


def test_a_refused_set_up_statement_is_quoted_and_nothing_hangs(target: Target) -> None:
    with pytest.raises(UsageError, match="CREATE NONSENSE"):
        target.rebuild(["CREATE TABLE t (id INT)", "CREATE NONSENSE"])
    target.rebuild(SETUP)
    with pytest.raises(UsageError, match="no_such_table"):
        target.refill(["child", "parent"], ["INSERT INTO no_such_table VALUES (1)"])
    target.rebuild(SETUP)
    assert len(target.state(["parent"])["parent"]) == 3


def test_a_set_up_that_leaves_a_transaction_open_leaves_none(target: Target) -> None:
    target.rebuild([*SETUP, "BEGIN", "DELETE FROM child"])
    target.refill(["child", "parent"], SETUP[2:])
    assert len(target.state(["child"])["child"]) == 1


def test_a_second_target_neither_sees_nor_drops_the_database_of_the_first(
    spec: str, target: Target, driver: Driver, profile: Profile
) -> None:
    (session,) = driver.open()
    before = _databases(driver, profile)
    with _another(spec, target) as second:
        assert second.schema().tables == ()
        second.rebuild(["CREATE TABLE other (id INT)"])
        assert [table.name for table in target.schema().tables] == ["child", "parent"]
        if before:
            assert len(_databases(driver, profile)) == len(before) + 1
        second.open_session().launch("BEGIN")  # a session that is still open must not keep it from closing
    assert _databases(driver, profile) == before
    assert driver.rows(session, "SELECT id FROM parent WHERE id = 1") == ((1,),)


def _another(spec: str, target: Target) -> Target:
    """A second target: on the same server if it is one, else beside the first."""
    endpoint = getattr(target, "endpoint", None)
    return type(target)(endpoint, spec) if endpoint else open_target(spec)  # type: ignore[call-arg]


def _databases(driver: Driver, profile: Profile) -> set[str]:
    if profile.list_databases is None:
        return set()
    (session,) = driver.open()
    names = {str(name) for (name,) in driver.rows(session, profile.list_databases)}
    return {name for name in names if name.startswith("acidtest_")}


def test_a_target_says_what_it_is(target: Target) -> None:
    assert target.version[0].isdigit()
    assert target.label
    assert target.is_alive()
    assert isinstance(target.log_tail(), str)
