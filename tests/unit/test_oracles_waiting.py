"""InnoDB's statements that wait or read beside their rows: where two answers are right, a third is wrong."""

from dataclasses import replace

import pytest

from acidtest.model import (
    Column,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Index,
    Judgement,
    Level,
    Schema,
    Table,
    TransactionState,
    Undone,
    Verdict,
)
from acidtest.oracles import graph
from acidtest.oracles.explaining import explained
from acidtest.oracles.walks import HistoryWalk
from tests.unit.told_histories import After, Step, World, passes, unknown, verdict

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE
ROWS = ((1, 10), (2, 20))
PRIMARY = Index("PRIMARY", ("id",), True, primary=True)
T = Table("t", (Column("id", "int", False), Column("v", "int", True)), (PRIMARY,))
U = Table("u", (Column("id", "int", True),))
WORLD = World("mysql", Schema((T, U)), {"t": ROWS, "u": ((1,),)}, version="9.7.4")


def fails(history: History) -> bool:
    """Whether `solver` finds something wrong; that it does not know is an error of the test."""
    return not passes(history)


# -- dirty reads of a write that waits


def dirty_read(world: World, *seen: tuple[int, int]) -> History:
    """tx2 wants both rows and waits for the second; tx3 looks at what it has done so far."""
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 21 WHERE id = 2", 1),
        ("tx2", "UPDATE t SET v = 0 WHERE id < 5", After(4, 2)),
        ("tx3", "SELECT * FROM t", list(seen)),
        ("tx1", "COMMIT", None),
    )
    return world.history(RU, steps, {"t": ((1, 0), (2, 0))})


def test_a_row_may_be_seen_before_or_after_a_write_that_waits() -> None:
    assert passes(dirty_read(WORLD, (1, 10), (2, 21)))
    assert passes(dirty_read(WORLD, (1, 0), (2, 21)))


@pytest.mark.parametrize("seen", [((1, 5), (2, 21)), ((1, 0), (2, 0)), ((1, 0), (2, 20)), ((2, 21),)])
def test_a_row_is_not_seen_otherwise(seen: tuple[tuple[int, int], ...]) -> None:
    assert fails(dirty_read(WORLD, *seen))


def test_a_row_may_be_in_neither_place_of_another_index() -> None:
    indexed = replace(T, indexes=(PRIMARY, Index("by_v", ("v",), False)))
    world = replace(WORLD, schema=Schema((indexed, U)))
    assert passes(dirty_read(world, (1, 0), (2, 21)))
    assert "so far" in unknown(dirty_read(world, (2, 21)))


def semi_consistent(*seen: tuple[int, int]) -> Verdict:
    """tx3 passes row 1 by, which did not match when last committed, and then looks at tx2's work on it."""
    rows = ((1, 0), (2, 1))
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 1 WHERE id < 5", 1),
        ("tx2", "UPDATE t SET v = 2", After(7, 1)),
        ("tx3", "BEGIN", None),
        ("tx3", "UPDATE t SET v = 2 WHERE v = 1", After(5, 1)),
        ("tx1", "COMMIT", None),
        ("tx3", "SELECT * FROM t", list(seen)),
        ("tx3", "COMMIT", None),
    )
    history = replace(WORLD, rows={"t": rows, "u": ()}).history(RU, steps, {"t": ((1, 2), (2, 2))})
    return explained(history, verdict(history), lambda claims: HistoryWalk(history, claims).verdict)


def test_a_deviation_explains_what_a_dirty_read_shows_of_it() -> None:
    found = semi_consistent((1, 2), (2, 2)).violation
    assert found is not None
    assert [one.id for one in found.explained_by] == ["MDEV-26643"]


def test_a_deviation_does_not_explain_a_dirty_read_of_nobodys_work() -> None:
    found = semi_consistent((1, 3), (2, 2)).violation
    assert found is not None
    assert not found.explained_by


def taken_back(count: int, *left: tuple[int, int], moved: int = 1) -> Verdict:
    """tx1 moves rows to other keys and takes that back; tx2 has passed by their old places meanwhile."""
    world = replace(
        WORLD, dbms="mariadb", version="11.8.6-MariaDB", settings={"innodb_snapshot_isolation": "ON"}
    )
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", f"UPDATE t SET id = id + 2 WHERE id <= {moved}", moved),
        ("tx2", "UPDATE t SET v = 0", After(3, count)),
        ("tx1", "ROLLBACK", None),
    )
    history = world.history(RU, steps, {"t": left})
    return explained(history, verdict(history), lambda claims: HistoryWalk(history, claims).verdict)


def test_a_row_is_passed_by_for_a_deletion_that_is_taken_back() -> None:
    assert taken_back(2, (1, 0), (2, 0)).judgement is Judgement.PASS
    found = taken_back(1, (1, 10), (2, 0)).violation
    assert found is not None
    assert {one.id for one in found.explained_by} == {"MDEV-27992", "MDEV-39874"}


def test_several_rows_are_passed_by_one_after_the_other() -> None:
    found = taken_back(0, *ROWS, moved=2).violation
    assert found is not None
    assert {one.id for one in found.explained_by} == {"MDEV-27992", "MDEV-39874"}


def test_a_row_that_nobody_had_touched_is_not_passed_by() -> None:
    found = taken_back(1, (1, 0), (2, 20)).violation
    assert found is not None
    assert not found.explained_by


def beside_a_victim(count: int, *left: tuple[int, int]) -> Verdict:
    """tx2 has deleted row 1 when it must wait, and is then chosen to end a deadlock with tx1."""
    world = replace(
        WORLD, dbms="mariadb", version="11.8.6-MariaDB", settings={"innodb_snapshot_isolation": "ON"}
    )
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 2 FOR UPDATE", [(2, 20)]),
        ("tx2", "BEGIN", None),
        ("tx2", "DELETE FROM t", After(4, ErrorKind.DEADLOCK)),
        ("tx1", "UPDATE t SET v = 0 WHERE id < 5", count),
        ("tx1", "COMMIT", None),
    )
    told = world.history(RU, steps, {"t": left})
    failed = Failed(ErrorKind.DEADLOCK, "1213", "as told", Undone.TRANSACTION)
    victim = replace(told.records[3], outcome=failed, after=TransactionState.NONE)
    events = tuple(one for one in told.events if one.kind is not EventKind.RESUMED)
    history = replace(told, records=(*told.records[:3], victim, *told.records[4:]), events=events)
    return explained(history, verdict(history), lambda claims: HistoryWalk(history, claims).verdict)


def test_a_row_is_passed_by_for_a_deletion_of_a_deadlock_victim() -> None:
    assert beside_a_victim(2, (1, 0), (2, 0)).judgement is Judgement.PASS
    found = beside_a_victim(1, (1, 10), (2, 0)).violation
    assert found is not None
    assert [one.id for one in found.explained_by] == ["MDEV-39874"]


# -- subqueries of a write that waits


def write_beside(level: Level, count: int, *left: tuple[int, int]) -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "INSERT INTO u VALUES (2)", 1),
        ("tx2", "UPDATE t SET v = 0 WHERE id IN (SELECT id FROM u)", After(4, count)),
        ("tx1", "COMMIT", None),
    )
    return WORLD.history(level, steps, {"t": left, "u": ((1,), (2,))})


def test_subqueries_of_a_write_read_in_one_snapshot_before_or_after_its_wait() -> None:
    assert passes(write_beside(RC, 1, (1, 0), (2, 20)))
    assert passes(write_beside(RC, 2, (1, 0), (2, 0)))
    assert fails(write_beside(RC, 1, (1, 0), (2, 0)))
    assert fails(write_beside(RC, 0, (1, 11), (2, 20)))


def test_what_is_not_committed_may_have_been_read_in_any_state() -> None:
    assert "before or after" in unknown(write_beside(RU, 2, (1, 0), (2, 0)))


def test_an_insert_may_have_read_a_row_that_is_gone_when_it_goes_on() -> None:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "INSERT INTO t SELECT * FROM t WHERE id = 1", After(4, 1)),
        ("tx1", "DELETE FROM t WHERE id = 1", 1),
        ("tx1", "COMMIT", None),
    )
    assert "before or after" in unknown(WORLD.history(RU, steps, {"t": ((1, 11), (2, 20))}))


# -- LIMIT


def limited(count: int, *left: tuple[int, int]) -> History:
    """Row 2 comes to the front of the order while tx2 waits for it."""
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 5 WHERE id = 2", 1),
        ("tx2", "UPDATE t SET v = 0 ORDER BY v LIMIT 1", After(3, count)),
        ("tx1", "COMMIT", None),
    )
    return WORLD.history(RC, steps, {"t": left})


def test_a_write_with_limit_that_waited_takes_the_first_before_or_after() -> None:
    assert passes(limited(1, (1, 0), (2, 5)))
    assert passes(limited(1, (1, 10), (2, 0)))


def test_a_write_with_limit_takes_no_more_and_no_other_rows() -> None:
    assert fails(limited(2, (1, 0), (2, 0)))
    assert fails(limited(1, (1, 0), (2, 0)))
    assert fails(limited(0, (1, 10), (2, 5)))


def test_a_write_with_limit_that_locks_the_gaps_takes_the_first_of_now() -> None:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 5 WHERE id = 2", 1),
        ("tx2", "UPDATE t SET v = 0 ORDER BY v LIMIT 1", After(3, 1)),
        ("tx1", "COMMIT", None),
    )
    assert passes(WORLD.history(RR, steps, {"t": ((1, 10), (2, 0))}))
    assert fails(WORLD.history(RR, steps, {"t": ((1, 0), (2, 5))}))


# -- subqueries of locking reads


@pytest.mark.parametrize("clause", ["FOR UPDATE", "FOR UPDATE SKIP LOCKED"])
def test_a_subquery_of_a_locking_read_sees_the_snapshot(clause: str) -> None:
    def read(*found: tuple[int, int]) -> History:
        steps: tuple[Step, ...] = (
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM u", [(1,)]),
            ("tx2", "INSERT INTO u VALUES (2)", 1),
            ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", f"SELECT * FROM t WHERE id IN (SELECT id FROM u) {clause}", list(found)),
            ("tx1", "COMMIT", None),
        )
        return WORLD.history(RR, steps, {"t": ((1, 11), (2, 20)), "u": ((1,), (2,))})

    assert passes(read((1, 11)))
    assert fails(read((1, 10)))
    assert fails(read((1, 11), (2, 20)))


def test_a_subquery_of_a_locking_read_opens_the_snapshot() -> None:
    def read(*found: tuple[int]) -> History:
        steps: tuple[Step, ...] = (
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id IN (SELECT id FROM u WHERE id > 5) FOR UPDATE", []),
            ("tx2", "INSERT INTO u VALUES (2)", 1),
            ("tx1", "SELECT * FROM u", list(found)),
            ("tx1", "COMMIT", None),
        )
        return WORLD.history(RR, steps, {"u": ((1,), (2,))})

    assert passes(read((1,)))
    assert passes(read((1,), (2,))), "a subquery that was not needed opens none"
    assert fails(read((2,)))


def read_both_ways(select: str, *found: tuple[int, ...]) -> History:
    """Row 1 is newer than the snapshot: the locking read finds it as it is now, its subquery as it was."""
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", f"{select} WHERE v > (SELECT MIN(s.v) FROM t AS s) FOR UPDATE", list(found)),
        ("tx1", "COMMIT", None),
    )
    return WORLD.history(RR, steps, {"t": ((1, 11), (2, 20))})


def test_a_table_may_be_read_both_ways() -> None:
    assert passes(read_both_ways("SELECT * FROM t", (1, 11), (2, 20)))
    assert passes(read_both_ways("SELECT v FROM t", (11,), (20,)))
    assert fails(read_both_ways("SELECT * FROM t", (2, 20)))
    assert fails(read_both_ways("SELECT * FROM t", (1, 10), (2, 20)))


def test_a_table_that_is_read_both_ways_for_what_is_given_is_undecided() -> None:
    history = read_both_ways("SELECT id, (SELECT MAX(s.v) FROM t AS s) FROM t", (1, 20), (2, 20))
    assert "other versions" in unknown(history)


def read_after_wait(begin: str, *found: tuple[int, int]) -> History:
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", begin, None),
        (
            "tx2",
            "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE s.v = 10) FOR SHARE",
            After(4, list(found)),
        ),
        ("tx1", "COMMIT", None),
        ("tx2", "COMMIT", None),
    )
    return WORLD.history(SER, steps, {"t": ((1, 11), (2, 20))})


def test_where_all_that_is_read_is_locked_it_is_read_as_it_is_after_the_wait() -> None:
    """In a transaction at SERIALIZABLE; a statement alone reads its subqueries without locks."""
    assert passes(read_after_wait("BEGIN"))
    assert fails(read_after_wait("BEGIN", (1, 11), (2, 20)))
    assert passes(read_after_wait("COMMIT"))
    assert passes(read_after_wait("COMMIT", (1, 11), (2, 20)))
    assert fails(read_after_wait("COMMIT", (2, 20)))


def skipped(seen: list[tuple[int, ...]]) -> History:
    """tx2 skips what tx1 holds, and lets tx3 go first, which then reads what tx1 wrote."""
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 1 FOR UPDATE", [(1, 10)]),
        ("tx2", "BEGIN", None),
        ("tx2", "SELECT * FROM t WHERE id < 5 FOR UPDATE SKIP LOCKED", seen),
        ("tx3", "BEGIN", None),
        ("tx3", "UPDATE u SET id = 7 WHERE id > 5", 0),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "INSERT INTO u VALUES (9)", After(10, 1)),
        ("tx1", "COMMIT", None),
        ("tx3", "SELECT * FROM t WHERE id = 1", [(1, 11)]),
        ("tx3", "COMMIT", None),
        ("tx2", "COMMIT", None),
    )
    return WORLD.history(SER, steps, {"t": ((1, 11), (2, 20)), "u": ((1,), (9,))})


@pytest.mark.parametrize("seen", [[], [(2, 20)]])
def test_a_row_that_was_skipped_was_not_read(seen: list[tuple[int, ...]]) -> None:
    found = graph.judge(skipped(seen))
    assert found is not None
    assert found.judgement is Judgement.PASS, found


# -- conflict errors without a reason


def conflict(*others: Step) -> Verdict:
    """tx1 fails with 1020 over rows that none of the others may have made newer than its snapshot."""
    world = replace(
        WORLD, dbms="mariadb", version="11.8.6-MariaDB", settings={"innodb_snapshot_isolation": "ON"}
    )
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        *others,
        ("tx1", "UPDATE t SET v = 0 WHERE id = 1", ErrorKind.RECORD_CHANGED),
        ("tx1", "ROLLBACK", None),
    )
    left = ((1, 10), (2, 21)) if others else ROWS
    return verdict(world.history(RR, steps, {"t": left}))


def test_a_conflict_may_be_over_a_row_that_the_statement_passes_by() -> None:
    found = conflict(("tx2", "UPDATE t SET v = 21 WHERE id = 2", 1))
    assert (found.judgement, found.unexplained_conflicts) == (Judgement.PASS, 0)


def test_a_conflict_over_nothing_is_counted() -> None:
    found = conflict()
    assert (found.judgement, found.unexplained_conflicts) == (Judgement.PASS, 1)
