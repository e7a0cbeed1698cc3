"""Statements that had to be refused, and errors that had no reason to come."""

import pytest

from acidtest.model import Column, ErrorKind, History, Index, Level, Schema, Table, ViolationKind
from tests.unit.told_histories import Result, Step, World, passes, verdict

REFUSED, DUPLICATE = ErrorKind.TRANSACTION_STATE, ErrorKind.DUPLICATE_KEY
COLUMNS = (Column("id", "integer", False), Column("v", "integer", True))
KEYED = Table("t", COLUMNS, (Index("t_pkey", ("id",), True, primary=True),))
BARE = Table("t", COLUMNS)
ROWS = ((1, 10), (2, 20))


def told(
    dbms: str, level: Level, *steps: Step, table: Table = KEYED, final: tuple[tuple[int, int], ...] = ROWS
) -> History:
    world = World(dbms, Schema((table,), folds_names="lower" if dbms == "postgres" else ""), {"t": ROWS})
    return world.history(level, steps, {"t": final})


@pytest.mark.parametrize(
    ("result", "right"), [(REFUSED, True), (((1, 10), (2, 20)), False)], ids=["refused", "answered"]
)
def test_a_failed_transaction_takes_no_more_statements(result: Result, right: bool) -> None:
    history = told(
        "postgres",
        Level.READ_COMMITTED,
        ("tx1", "BEGIN", None),
        ("tx1", "INSERT INTO t VALUES (1, 11)", DUPLICATE),
        ("tx1", "SELECT * FROM t", result),
        ("tx1", "ROLLBACK", None),
    )
    assert passes(history) is right
    assert right or verdict(history).kind is ViolationKind.WRONG_ERROR


@pytest.mark.parametrize(
    ("result", "right"), [(ErrorKind.LOCK_NOT_AVAILABLE, True), (1, False)], ids=["refused", "done"]
)
def test_sqlite_has_one_writer_at_a_time(result: Result, right: bool) -> None:
    history = told(
        "sqlite",
        Level.SERIALIZABLE,
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "BEGIN", None),
        ("tx2", "UPDATE t SET v = 21 WHERE id = 2", result),
        ("tx2", "ROLLBACK", None),
        ("tx1", "COMMIT", None),
        final=((1, 11), (2, 20)),
    )
    assert passes(history) is right
    assert right or verdict(history).kind is ViolationKind.WRONG_ERROR


@pytest.mark.parametrize(
    ("sql", "table", "right"),
    [
        ("INSERT INTO t VALUES (3, 30)", KEYED, True),
        ("INSERT INTO t VALUES (3, 30)", BARE, False),
        ("DELETE FROM t WHERE id = 1", KEYED, False),
    ],
    ids=["a key", "no key", "a key goes"],
)
def test_only_who_brings_a_key_can_lose_a_conflict_over_one(sql: str, table: Table, right: bool) -> None:
    history = told(
        "duckdb",
        Level.SNAPSHOT,
        ("tx1", "BEGIN", None),
        ("tx2", "BEGIN", None),
        ("tx1", sql, DUPLICATE),
        ("tx1", "ROLLBACK", None),
        ("tx2", "COMMIT", None),
        table=table,
    )
    assert passes(history) is right


@pytest.mark.parametrize(
    ("error", "right"), [(ErrorKind.DIVISION_BY_ZERO, True), (DUPLICATE, False)], ids=["may be", "cannot be"]
)
def test_a_locking_read_of_several_tables_breaks_no_constraint(error: ErrorKind, right: bool) -> None:
    history = told(
        "mysql",
        Level.REPEATABLE_READ,
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT a.v FROM t AS a JOIN t AS b ON a.id = b.id FOR UPDATE", error),
        ("tx1", "ROLLBACK", None),
    )
    assert passes(history) is right
