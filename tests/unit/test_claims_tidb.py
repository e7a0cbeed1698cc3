"""TiDB's claims in both modes, and how the solver judges a conflict that is found at COMMIT."""

from dataclasses import replace
from typing import cast

import pytest

from acidtest.casefile import parse_case
from acidtest.claims import Lock, OnConflict, Sees, SnapshotAt, claim_for, claims_of
from acidtest.model import (
    Affected,
    Column,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    History,
    Index,
    Judgement,
    Level,
    Outcome,
    Record,
    Rows,
    Schema,
    Table,
    TransactionState,
    Undone,
    freeze_state,
)
from acidtest.oracles.engines.evaluating import EvaluatingEngine
from acidtest.oracles.judging import judge_with
from acidtest.oracles.solver import SolverOracle
from acidtest.oracles.walks import Walks
from acidtest.targets import Target
from tests.unit.told_histories import Result, Step, World, passes, unknown

RC, RR = Level.READ_COMMITTED, Level.REPEATABLE_READ
OPTIMISTIC = {"tidb_txn_mode": "optimistic"}
SCHEMA = Schema(
    (
        Table(
            "t",
            (Column("id", "int(11)", nullable=False), Column("v", "int(11)", nullable=True)),
            (Index("PRIMARY", ("id",), unique=True, primary=True),),
        ),
    )
)

LOST_UPDATE = """\
-- schedule
/* tx1 */ BEGIN{mode};
/* tx2 */ BEGIN{mode};
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
CONFLICT = Failed(ErrorKind.WRITE_CONFLICT, "9007", "", Undone.TRANSACTION)


def history(case: str, outcomes: tuple[Outcome, ...], final: tuple[int, ...], mode: str = "") -> History:
    """A run in which every step completes at once; the table held (1, 10)."""
    parsed = parse_case(case.format(mode=mode), "here")
    events, records, standing = [], [], dict.fromkeys(("tx1", "tx2"), TransactionState.NONE)
    for step, outcome in zip(parsed.steps, outcomes, strict=True):
        before = standing[step.session]
        if step.sql.startswith("BEGIN"):
            standing[step.session] = TransactionState.OPEN
        if step.sql == "COMMIT":
            standing[step.session] = TransactionState.NONE
        after = standing[step.session]
        records.append(Record(step.index, step.session, step.sql, outcome, before=before, after=after))
        events += [
            Event(kind, step.index, step.session) for kind in (EventKind.LAUNCHED, EventKind.COMPLETED)
        ]
    return History(
        parsed,
        "tidb",
        "8.5.4",
        dict.fromkeys(("tx1", "tx2"), RR),
        SCHEMA,
        freeze_state({"t": ((1, 10),)}),
        tuple(events),
        tuple(records),
        freeze_state({"t": (final,)}),
        dbms="tidb",
        settings={"tidb_txn_mode": "pessimistic" if mode else "optimistic"},
    )


def verdict(run: History) -> Judgement:
    return judge_with("solver", run, lambda: EvaluatingEngine("tidb", SCHEMA)).verdict.judgement


def test_a_pessimistic_transaction_locks_and_works_on_the_newest_rows() -> None:
    for level, snapshot in ((RC, SnapshotAt.STATEMENT), (RR, SnapshotAt.BEGIN)):
        claim = claim_for("tidb", level, {})
        assert claim is not None
        assert (claim.plain_read, claim.write, claim.snapshot) == (Sees.SNAPSHOT, Sees.COMMITTED, snapshot)
        assert (claim.on_conflict, claim.share_lock) == (OnConflict.WAIT, Lock.NONE)
        assert not claim.predicate_locks
        assert not claim.alone_locks


def test_an_optimistic_transaction_works_on_its_snapshot() -> None:
    claim = claim_for("tidb", RR, OPTIMISTIC)
    assert claim is not None
    assert (claim.write, claim.locking_read) == (Sees.SNAPSHOT, Sees.SNAPSHOT)
    assert (claim.snapshot, claim.on_conflict) == (SnapshotAt.BEGIN, OnConflict.AT_COMMIT)
    assert "G-single" in claim.excludes


@pytest.mark.parametrize("mode", ["", " OPTIMISTIC"], ids=["by the target's mode", "by BEGIN"])
def test_a_conflict_that_is_found_at_commit_passes(mode: str) -> None:
    done = Affected(0), Affected(0), Affected(1), Affected(1), Affected(0)
    assert verdict(history(LOST_UPDATE, (*done, CONFLICT), (1, 11), mode)) is Judgement.PASS


def test_a_lost_update_that_nobody_finds_is_a_violation() -> None:
    done = (Affected(0), Affected(0), Affected(1), Affected(1), Affected(0), Affected(0))
    assert verdict(history(LOST_UPDATE, done, (1, 12))) is Judgement.VIOLATION


def test_a_write_that_changes_nothing_is_no_conflict() -> None:
    case = LOST_UPDATE.replace("SET v = 12", "SET v = 10")
    done = (Affected(0), Affected(0), Affected(1), Affected(0), Affected(0), Affected(0))
    assert verdict(history(case, done, (1, 11))) is Judgement.PASS


def test_a_dirty_read_is_a_violation_in_optimistic_mode_too() -> None:
    case = (
        "-- schedule\n/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET v = 11;\n"
        "/* tx2 */ SELECT v FROM t;\n/* tx1 */ COMMIT;\n"
    )
    done = (Affected(0), Affected(1), Rows(("v",), ((11,),)), Affected(0))
    assert verdict(history(case, done, (1, 11))) is Judgement.VIOLATION


def test_each_transaction_of_a_session_has_the_mode_that_it_begins_with() -> None:
    case = (
        "-- schedule\n/* tx1 */ BEGIN OPTIMISTIC;\n/* tx1 */ COMMIT;\n/* tx1 */ BEGIN;\n/* tx2 */ COMMIT;\n"
    )
    claims = claims_of(history(case, (Affected(0),) * 4, (1, 10), mode="x"))
    assert claims is not None
    modes = [claims.at("tx1", step).on_conflict for step in (0, 1, 2)]
    assert modes == [OnConflict.AT_COMMIT, OnConflict.AT_COMMIT, OnConflict.WAIT]


def test_a_key_that_an_optimistic_insert_breaks_shows_at_commit() -> None:
    plain = "-- schedule\n/* tx1 */ BEGIN;\n/* tx1 */ INSERT INTO t VALUES (1, 11);\n/* tx1 */ COMMIT;\n"
    done = (Affected(0), Affected(1))
    duplicate = Failed(ErrorKind.DUPLICATE_KEY, "1062", "", Undone.TRANSACTION)
    assert verdict(history(plain, (*done, duplicate), (1, 10))) is Judgement.PASS
    assert verdict(history(plain, (*done, CONFLICT), (1, 10))) is Judgement.PASS
    assert verdict(history(plain, (*done, Affected(0)), (1, 11))) is Judgement.VIOLATION
    undone = plain.replace("COMMIT", "ROLLBACK")
    assert verdict(history(undone, (*done, Affected(0)), (1, 10))) is Judgement.PASS
    assert verdict(history(undone, (*done, Affected(0)), (1, 11))) is Judgement.VIOLATION


def test_what_is_read_after_a_broken_key_is_unknown_if_the_server_does_not_tell_how_it_keeps_rows() -> None:
    case = (
        "-- schedule\n/* tx1 */ BEGIN;\n/* tx1 */ INSERT INTO t VALUES (1, 11);\n"
        "/* tx1 */ SELECT v FROM t;\n/* tx1 */ COMMIT;\n"
    )
    done = (Affected(0), Affected(1), Rows(("v",), ((11,),)))
    assert verdict(history(case, (*done, CONFLICT), (1, 10))) is Judgement.UNKNOWN
    assert verdict(history(case, (*done, Affected(0)), (1, 11))) is Judgement.VIOLATION


def test_an_optimistic_upsert_looks_into_its_snapshot() -> None:
    case = (
        "-- schedule\n/* tx1 */ BEGIN;\n/* tx1 */ SELECT v FROM t;\n/* tx2 */ DELETE FROM t;\n"
        "/* tx1 */ INSERT INTO t VALUES (1, 11) ON DUPLICATE KEY UPDATE v = 12;\n/* tx1 */ ROLLBACK;\n"
    )
    before = (Affected(0), Rows(("v",), ((10,),)), Affected(1))
    found = replace(history(case, (*before, Affected(2), Affected(0)), (1, 10)), final={"t": ()})
    assert verdict(found) is Judgement.PASS
    missed = replace(history(case, (*before, Affected(1), Affected(0)), (1, 10)), final={"t": ()})
    assert verdict(missed) is Judgement.VIOLATION


def keyed(clustered: bool) -> World:
    """A table with one row, which is kept by its primary key or not."""
    key = Index("PRIMARY", ("id",), unique=True, primary=True, clustered=clustered)
    schema = Schema((replace(SCHEMA.tables[0], indexes=(key,)),))
    settings = {"tidb_txn_mode": "pessimistic"}
    return World("tidb", schema, {"t": ((1, 10),)}, version="5.4.2-TiDB", settings=settings)


def known_as(run: History) -> tuple[str, ...] | None:
    """The deviations that explain a history; None if it is right."""
    found = SolverOracle(cast(Target, None), Walks()).judge(run)
    assert found.judgement is not Judgement.UNKNOWN, found.reason
    return None if found.violation is None else tuple(one.id for one in found.violation.explained_by)


DELETED: tuple[Step, ...] = (("tx2", "DELETE FROM t", 1),)
MOVED: tuple[Step, ...] = (("tx2", "UPDATE t SET id = 2", 1), ("tx2", "DELETE FROM t", 1))


@pytest.mark.parametrize("steps", [DELETED, MOVED], ids=["deleted", "moved"])
@pytest.mark.parametrize(
    ("clustered", "explained"), [(True, ()), (False, ("TIDB-46900",))], ids=["", "apart"]
)
def test_a_deleted_row_beside_an_own_one_with_its_key(
    steps: tuple[Step, ...], clustered: bool, explained: tuple[str, ...]
) -> None:
    def run(*rows: tuple[int, int]) -> History:
        own: tuple[Step, ...] = (
            ("tx1", "INSERT INTO t VALUES (1, 11)", 1),
            ("tx1", "SELECT * FROM t", rows),
            ("tx1", "COMMIT", None),
        )
        return keyed(clustered).history(RR, (("tx1", "BEGIN", None), *steps, *own), {"t": ((1, 11),)})

    assert known_as(run((1, 11))) is None
    assert known_as(run((1, 10), (1, 11))) == explained
    if steps == DELETED:
        assert known_as(run((1, 10), (1, 12))) == ()
    else:
        assert unknown(run((1, 10), (1, 12)))


def test_keys_that_differ_in_case_are_two_rows() -> None:
    key = Index("PRIMARY", ("id",), unique=True, primary=True, clustered=False)
    column = Column("id", "varchar(20)", nullable=False, collation="utf8mb4_bin")
    told = World("tidb", Schema((Table("t", (column,), (key,)),)), {"t": (("b",),)}, version="5.4.2-TiDB")
    run = told.history(
        RR,
        (
            ("tx1", "BEGIN", None),
            ("tx1", "INSERT INTO t VALUES ('B')", 1),
            ("tx1", "SELECT * FROM t", (("b",), ("B",))),
            ("tx1", "COMMIT", None),
        ),
        {"t": (("B",), ("b",))},
    )
    assert known_as(run) is None


LOCKS: dict[str, Result] = {
    "SELECT * FROM t WHERE id = 1 FOR UPDATE": ((1, 10),),
    "UPDATE t SET v = 10 WHERE id = 1": 0,
    "SELECT * FROM t FOR UPDATE": ((1, 10),),
    "UPDATE t SET v = 11 WHERE id = 1": 1,
}


@pytest.mark.parametrize(
    ("lock", "clustered", "explained"),
    [
        ("SELECT * FROM t WHERE id = 1 FOR UPDATE", False, ("TIDB-28011",)),
        ("UPDATE t SET v = 10 WHERE id = 1", False, ("TIDB-28011",)),
        ("SELECT * FROM t FOR UPDATE", False, ()),
        ("UPDATE t SET v = 11 WHERE id = 1", False, ()),
        ("SELECT * FROM t WHERE id = 1 FOR UPDATE", True, ()),
    ],
    ids=["locked", "left as it was", "by no key", "changed", "clustered"],
)
def test_a_row_twice_that_was_locked_by_its_key(
    lock: str, clustered: bool, explained: tuple[str, ...]
) -> None:
    for sql, once, twice, thrice in (
        ("SELECT id FROM t", ((1,),), ((1,), (1,)), ((1,), (1,), (1,))),
        ("SELECT COUNT(*) FROM t", ((1,),), ((2,),), ((3,),)),
    ):
        for rows, known in ((once, None), (twice, explained), (thrice, ())):
            run = keyed(clustered).history(
                RC,
                (
                    ("tx1", "BEGIN", None),
                    ("tx1", lock, LOCKS[lock]),
                    ("tx1", sql, rows),
                    ("tx1", "ROLLBACK", None),
                ),
                {},
            )
            assert known_as(run) == known


@pytest.mark.parametrize(("count", "known"), [(1, None), (2, ("TIDB-28011",)), (3, ())])
def test_a_row_that_was_locked_by_its_key_is_written_twice(count: int, known: tuple[str, ...] | None) -> None:
    run = keyed(clustered=False).history(
        RR,
        (
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 1 FOR UPDATE", ((1, 10),)),
            ("tx1", "DELETE FROM t WHERE id > 0", count),
            ("tx1", "COMMIT", None),
        ),
        {"t": ()},
    )
    assert known_as(run) == known


@pytest.mark.parametrize(
    ("sql", "newest", "explained"),
    [
        ("SELECT MAX(id) FROM t", ((2,),), ("TIDB-57170",)),
        ("SELECT id FROM t ORDER BY id DESC", ((2,),), ("TIDB-57170",)),
        ("SELECT v FROM t WHERE id < (SELECT MAX(s.id) FROM t AS s)", ((10,),), ("TIDB-57170",)),
        ("SELECT id FROM t ORDER BY id", ((2,),), ()),
        ("SELECT MAX(id) FROM t", ((3,),), ()),
        ("SELECT v FROM t WHERE id < (SELECT MAX(s.id) FROM t AS s)", ((20,),), ()),
    ],
)
def test_a_scan_from_the_end_that_sees_newer_rows(
    sql: str, newest: tuple[tuple[int, ...], ...], explained: tuple[str, ...]
) -> None:
    run = keyed(clustered=True).history(
        RR,
        (
            ("tx1", "BEGIN", None),
            ("tx2", "UPDATE t SET id = 2, v = 20", 1),
            ("tx1", sql, newest),
            ("tx1", "COMMIT", None),
        ),
        {"t": ((2, 20),)},
    )
    assert known_as(run) == explained


def broken_key(clustered: bool, *steps: Step) -> History:
    """An optimistic transaction that inserts a key which is there, and then does this."""
    key = Index("PRIMARY", ("id",), unique=True, primary=True, clustered=clustered)
    schema = Schema((replace(SCHEMA.tables[0], indexes=(key,)),))
    told = World("tidb", schema, {"t": ((1, 10),)}, settings=OPTIMISTIC)
    begin: tuple[Step, ...] = (("tx1", "BEGIN", None), ("tx1", "INSERT INTO t VALUES (1, 11)", 1))
    end: Step = ("tx1", "COMMIT", ErrorKind.DUPLICATE_KEY)
    return told.history(RR, (*begin, *steps, end), {})


@pytest.mark.parametrize(("clustered", "both"), [(True, False), (False, True)], ids=["clustered", "not"])
def test_a_scan_after_a_broken_key_finds_the_rows_as_they_are_kept(clustered: bool, both: bool) -> None:
    for rows in (((10,), (11,)), ((11,),), ((10,),)):
        run = broken_key(clustered, ("tx1", "SELECT v FROM t", rows))
        assert passes(run) is (rows == (((10,), (11,)) if both else ((11,),)))


def test_a_second_insert_after_a_broken_key_adds_its_row() -> None:
    insert: Step = ("tx1", "INSERT INTO t VALUES (2, 20)", 1)
    assert passes(broken_key(True, insert, ("tx1", "SELECT v FROM t", ((11,), (20,)))))
    assert not passes(broken_key(True, insert, ("tx1", "SELECT v FROM t", ((11,),))))


def test_what_is_found_by_a_broken_key_is_unknown() -> None:
    assert unknown(broken_key(False, ("tx1", "SELECT v FROM t WHERE id = 1", ((11,),))))
    assert passes(broken_key(False, ("tx1", "SELECT v FROM t WHERE id = 1", ((10,), (11,)))))


def test_what_a_write_does_after_a_broken_key_is_unknown() -> None:
    write: Step = ("tx1", "UPDATE t SET v = 12 WHERE id = 1", 1)
    assert unknown(broken_key(True, write, ("tx1", "SELECT v FROM t", ((12,),))))
    assert passes(broken_key(True, write))


@pytest.mark.parametrize(("value", "commits"), [(10, True), (11, False)], ids=["the same", "another"])
def test_an_optimistic_upsert_that_leaves_a_row_as_it_was_is_no_write(value: int, commits: bool) -> None:
    told = World("tidb", SCHEMA, {"t": ((1, 10),)}, settings=OPTIMISTIC)
    upsert = f"INSERT INTO t VALUES (1, 0) ON DUPLICATE KEY UPDATE v = {value}"
    run = told.history(
        RR,
        (
            ("tx1", "BEGIN", None),
            ("tx1", upsert, 0 if value == 10 else 2),
            ("tx2", "DELETE FROM t", 1),
            ("tx1", "COMMIT", None),
        ),
        {"t": ()},
    )
    assert passes(run) is commits
