"""The simulated DBMS without faults: what statements see, lock, wait for and undo."""

from collections.abc import Iterator

import pytest

from acidtest.errors import UsageError
from acidtest.model import Affected, ErrorKind, Failed, Index, Level, Undone
from acidtest.targets.simulated import SimulatedTarget
from tests.unit.plays import SETUP, Play

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE


@pytest.fixture
def target() -> Iterator[SimulatedTarget]:
    with SimulatedTarget(None, "simulated") as opened:
        yield opened


# -- what reads see


@pytest.mark.parametrize(("level", "uncommitted", "committed"), [(RU, 11, 11), (RC, 10, 11), (RR, 10, 10)])
def test_what_a_second_read_sees_of_another_transaction(
    target: SimulatedTarget, level: Level, uncommitted: int, committed: int
) -> None:
    play = Play(
        target,
        level,
        """1 BEGIN
        1 SELECT v FROM t WHERE id = 1
        2 BEGIN
        2 UPDATE t SET v = 11 WHERE id = 1
        1 SELECT v FROM t WHERE id = 1
        2 COMMIT
        1 SELECT v FROM t WHERE id = 1""",
    )
    assert [play.rows(step) for step in (1, 4, 6)] == [((10,),), ((uncommitted,),), ((committed,),)]
    assert play.waited() == {}


def test_a_consistent_snapshot_is_taken_at_once(target: SimulatedTarget) -> None:
    script = """1 {}
        2 UPDATE t SET v = 11 WHERE id = 1
        1 SELECT v FROM t WHERE id = 1"""
    late = Play(target, RR, script.format("START TRANSACTION"))
    early = Play(target, RR, script.format("START TRANSACTION WITH CONSISTENT SNAPSHOT"))
    assert (late.rows(2), early.rows(2)) == (((11,),), ((10,),))


def test_writes_and_locking_reads_look_past_the_snapshot(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RR,
        """1 BEGIN
        1 SELECT v FROM t WHERE id = 1
        2 UPDATE t SET v = 11 WHERE id = 1
        1 SELECT v FROM t WHERE id = 1 FOR SHARE
        1 UPDATE t SET v = v + 1 WHERE v = 11
        1 SELECT v FROM t WHERE id = 1
        1 COMMIT""",
    )
    assert (play.rows(3), play.count(4), play.rows(5)) == (((11,),), 1, ((12,),))


def test_an_update_that_changes_nothing_makes_the_row_its_own(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RR,
        """1 BEGIN
        1 SELECT v FROM t WHERE id = 1
        2 UPDATE t SET v = 11 WHERE id = 1
        1 UPDATE t SET v = 11 WHERE id = 1
        1 SELECT v FROM t WHERE id = 1""",
    )
    assert (play.count(3), play.rows(4)) == (0, ((11,),))


# -- waits


def test_a_write_waits_for_a_write_and_goes_on_with_what_was_committed(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 UPDATE t SET v = v + 1 WHERE id = 1
        2 UPDATE t SET v = v * 2 WHERE v > 10
        1 COMMIT""",
    )
    assert play.waited() == {2: ("tx1",)}
    assert play.records[2].resumed_by == 3
    assert play.final["t"] == ((1, 22), (2, 40))


def test_waiters_go_on_in_the_order_in_which_they_came(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 UPDATE t SET v = 1 WHERE id = 1
        2 UPDATE t SET v = v + 1 WHERE id = 1
        3 UPDATE t SET v = v * 10 WHERE id = 1
        1 COMMIT""",
    )
    assert play.final["t"][0] == (1, 20)


def test_who_closes_a_circle_of_waits_is_undone(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        2 BEGIN
        1 UPDATE t SET v = 11 WHERE id = 1
        2 UPDATE t SET v = 21 WHERE id = 2
        1 UPDATE t SET v = v + 1 WHERE id = 2
        2 UPDATE t SET v = v + 1 WHERE id = 1
        1 COMMIT
        2 COMMIT""",
    )
    assert play.error(5) is ErrorKind.DEADLOCK
    assert play.records[5].outcome.undone is Undone.TRANSACTION  # type: ignore[union-attr]
    assert play.final["t"] == ((1, 11), (2, 21))


@pytest.mark.parametrize("first", ["INSERT INTO t VALUES (3, 1)", "DELETE FROM t WHERE id = 2"])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_an_insert_waits_for_the_key_of_an_open_transaction(
    target: SimulatedTarget, first: str, end: str
) -> None:
    key = 3 if "3" in first else 2
    play = Play(target, RC, f"1 BEGIN\n1 {first}\n2 INSERT INTO t VALUES ({key}, 2)\n1 {end}")
    assert play.waited() == {2: ("tx1",)}
    there = (end == "COMMIT") == ("INSERT" in first)
    assert isinstance(play.records[2].outcome, Failed if there else Affected)


@pytest.mark.parametrize("level", [RC, RR, SER])
def test_predicate_locks_keep_matching_rows_out(target: SimulatedTarget, level: Level) -> None:
    play = Play(
        target,
        level,
        """1 BEGIN
        1 SELECT * FROM t WHERE v > 15 FOR UPDATE
        2 INSERT INTO t VALUES (3, 30)
        3 INSERT INTO t VALUES (4, 5)
        3 UPDATE t SET v = 16 WHERE id = 1
        1 COMMIT""",
    )
    assert set(play.waited()) == (set() if level is RC else {2, 4})


def test_plain_reads_lock_in_transactions_at_serializable_only(target: SimulatedTarget) -> None:
    script = """1 {}
        1 SELECT * FROM t
        2 UPDATE t SET v = 11 WHERE id = 1
        1 COMMIT"""
    assert set(Play(target, SER, script.format("BEGIN")).waited()) == {2}
    assert Play(target, SER, script.format("COMMIT")).waited() == {}
    assert Play(target, RR, script.format("BEGIN")).waited() == {}


def test_share_locks_get_along(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 SELECT * FROM t LOCK IN SHARE MODE
        2 SELECT v FROM t WHERE id = 1 FOR SHARE
        2 SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT
        2 SELECT v FROM t WHERE id = 1 FOR UPDATE SKIP LOCKED""",
    )
    assert (play.rows(2), play.error(3), play.rows(4)) == (((10,),), ErrorKind.LOCK_NOT_AVAILABLE, ())


def test_a_wait_that_nothing_ends_is_cancelled_and_harms_nothing(target: SimulatedTarget) -> None:
    play = Play(target, RC, "1 BEGIN\n1 UPDATE t SET v = 0\n2 BEGIN\n2 DELETE FROM t")
    assert type(play.records[3].outcome).__name__ == "Blocked"
    assert play.final["t"] == ((1, 10), (2, 20))


# -- what is undone


def test_savepoints(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 INSERT INTO t VALUES (3, 30)
        1 SAVEPOINT a
        1 DELETE FROM t
        1 SAVEPOINT b
        1 INSERT INTO t VALUES (1, 1)
        1 ROLLBACK TO a
        1 ROLLBACK TO SAVEPOINT b
        1 RELEASE SAVEPOINT a
        1 ROLLBACK TO a
        1 COMMIT""",
    )
    assert [play.error(step) for step in (7, 9)] == [ErrorKind.NO_SUCH_OBJECT] * 2
    assert play.final["t"] == ((1, 10), (2, 20), (3, 30))


def test_a_failed_statement_is_undone_and_the_transaction_lives_on(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 INSERT INTO t VALUES (3, 30), (1, 1)
        1 INSERT INTO t VALUES (4, 'x')
        1 INSERT INTO t VALUES (NULL, 1)
        1 INSERT INTO t VALUES (5, 9999999999)
        1 UPDATE t SET id = 2
        1 SELECT * FROM nowhere
        1 SELECT nothing FROM t
        1 GRANT ALL ON t TO x
        1 INSERT INTO t VALUES (6, 60)
        1 COMMIT""",
    )
    assert [play.error(step).value for step in range(1, 9)] == [
        "duplicate-key",
        "bad-value",
        "not-null",
        "out-of-range",
        "duplicate-key",
        "no-such-object",
        "no-such-object",
        "unsupported",
    ]
    assert play.final["t"] == ((1, 10), (2, 20), (6, 60))


def test_a_read_only_transaction_does_not_write(target: SimulatedTarget) -> None:
    play = Play(target, RC, "1 START TRANSACTION READ ONLY\n1 DELETE FROM t")
    assert play.error(1) is ErrorKind.READ_ONLY


# -- writes of all kinds


def test_replace_upsert_and_ignore(target: SimulatedTarget) -> None:
    play = Play(
        target,
        RC,
        """1 REPLACE INTO t VALUES (1, 11)
        1 INSERT INTO t VALUES (2, 0) ON DUPLICATE KEY UPDATE v = v + VALUES(v) + 1
        1 INSERT IGNORE INTO t VALUES (2, 5), (3, 5)
        1 INSERT INTO t SELECT id + 10, v FROM t WHERE v > 10
        1 UPDATE t SET v = (SELECT COUNT(*) FROM t) + 1 WHERE id = 3""",
    )
    assert [play.count(step) for step in range(5)] == [2, 2, 1, 2, 1]
    assert play.final["t"] == ((1, 11), (2, 21), (3, 6), (11, 11), (12, 21))


@pytest.mark.parametrize(
    ("level", "dirty", "waits"), [(RU, True, False), (RC, False, False), (RR, False, True)]
)
def test_what_subqueries_of_writes_see_and_lock(
    target: SimulatedTarget, level: Level, dirty: bool, waits: bool
) -> None:
    play = Play(
        target,
        level,
        """1 BEGIN
        1 UPDATE s SET x = 2
        2 UPDATE t SET v = 0 WHERE id IN (SELECT x FROM s)
        3 DELETE FROM t WHERE v > 0 AND id IN (SELECT x FROM s)
        1 ROLLBACK""",
        SETUP + "CREATE TABLE s (x INT); INSERT INTO s VALUES (1);",
    )
    assert set(play.waited()) == ({2, 3} if waits else {3})
    assert play.final["t"] == (((2, 0),) if dirty else ((1, 0), (2, 20)))


def test_automatic_numbers_are_not_given_back(target: SimulatedTarget) -> None:
    setup = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);"
    play = Play(
        target,
        RC,
        """1 BEGIN
        1 INSERT INTO t (v) VALUES (1), (2)
        1 ROLLBACK
        1 INSERT INTO t VALUES (NULL, 3), (7, 4), (0, 5)
        1 INSERT INTO t (v) VALUES (6)""",
        setup,
    )
    assert play.final["t"] == ((3, 3), (7, 4), (8, 5), (9, 6))


# -- the target


def test_the_schema_is_in_the_spelling_of_mariadb(target: SimulatedTarget) -> None:
    target.rebuild(
        [
            "CREATE TABLE t (a INT AUTO_INCREMENT, b BIGINT NOT NULL DEFAULT -5, c VARCHAR(10) DEFAULT 'x',"
            " d DECIMAL(6,2), e DOUBLE, f DATE, g TEXT, PRIMARY KEY (a), UNIQUE KEY k (b, c), UNIQUE (c))",
            "CREATE INDEX i ON t (d, e)",
        ]
    )
    table = target.schema().table("t")
    assert [(column.type, column.nullable, column.default) for column in table.columns] == [
        ("int(11)", False, None),
        ("bigint(20)", False, "-5"),
        ("varchar(10)", True, "'x'"),
        ("decimal(6,2)", True, None),
        ("double", True, None),
        ("date", True, None),
        ("text", True, None),
    ]
    assert table.columns[0].auto_increment
    assert table.columns[2].collation == table.columns[6].collation == "utf8mb4_general_ci"
    assert table.indexes == (
        Index("PRIMARY", ("a",), unique=True, primary=True),
        Index("c", ("c",), unique=True),
        Index("i", ("d", "e"), unique=False),
        Index("k", ("b", "c"), unique=True),
    )


def test_a_set_up_that_it_does_not_know_is_refused(target: SimulatedTarget) -> None:
    with pytest.raises(UsageError, match="CHECK"):
        target.rebuild(["CREATE TABLE t (a INT, CHECK (a > 1))"])


def test_an_unknown_fault_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="no fault 'nonsense'; known are dirty-read"):
        SimulatedTarget(None, "simulated@nonsense", "nonsense")
