"""The solver: for each rule the smallest history that keeps it, and the smallest that breaks it.

Histories come from the simulated target. One that breaks a rule has a planted fault, or is a right one in
which an outcome was exchanged for what a broken DBMS would have said.
"""

from dataclasses import replace

import pytest

from acidtest.casefile import format_rows, load_case, parse_case
from acidtest.execute import Executor
from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    History,
    Hold,
    Judgement,
    Level,
    Outcome,
    Overran,
    Phenomenon,
    Reason,
    Row,
    RowDifference,
    Rows,
    RowsWitness,
    Schema,
    StateWitness,
    Undone,
    Verdict,
    Violation,
    ViolationKind,
    WaitWitness,
)
from acidtest.oracles import solver
from acidtest.report import words
from acidtest.simulated import FAULTS, Fault, case_file
from acidtest.targets.resolve import open_target

RU, RC = Level.READ_UNCOMMITTED, Level.READ_COMMITTED
RR, SER = Level.REPEATABLE_READ, Level.SERIALIZABLE
EVERY = (RU, RC, RR, SER)

SETUP = """\
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
"""

THERE_FROM_THE_START = RowDifference((1, 10), False, Reason.INITIAL, "t", by="tx2", by_step=3)


def run(schedule: str, level: Level | None = RC, fault: str = "", setup: str = SETUP) -> History:
    case = parse_case(f"-- setup\n{setup}-- schedule\n{schedule}", "case").at_level(level)
    with open_target(f"simulated@{fault}" if fault else "simulated") as target, Executor(target) as executor:
        return executor.run(case)


def with_outcome(history: History, step: int, outcome: Outcome, **other: object) -> History:
    """The history as if the step had come to this."""
    records = list(history.records)
    records[step] = replace(records[step], outcome=outcome, **other)  # type: ignore[arg-type]
    return replace(history, records=tuple(records))


def rows(*values: Row) -> Rows:
    return Rows(("id", "v"), values)


def failed(kind: ErrorKind, undone: Undone = Undone.STATEMENT) -> Failed:
    return Failed(kind, "4711", "as if", undone)


def passes(history: History) -> bool:
    verdict = solver.judge(history)
    assert verdict.judgement is not Judgement.UNKNOWN, verdict.reason
    return verdict == Verdict("solver", Judgement.PASS)


def violation(history: History) -> Verdict:
    verdict = solver.judge(history)
    assert verdict.judgement is Judgement.VIOLATION, verdict
    assert verdict.oracle == "solver"
    return verdict


def unknown(history: History) -> str:
    verdict = solver.judge(history)
    assert verdict.judgement is Judgement.UNKNOWN, verdict
    return verdict.reason


def violation_in(verdict: Verdict) -> Violation:
    assert verdict.violation is not None
    return verdict.violation


def expected(verdict: Verdict) -> str:
    return words.expected(violation_in(verdict))


def observed(verdict: Verdict) -> str:
    return words.observed(violation_in(verdict))


def differences_of(verdict: Verdict) -> tuple[RowDifference, ...]:
    witness = violation_in(verdict).witness
    assert isinstance(witness, RowsWitness | StateWitness)
    return witness.differences


# -- wrong rows


def read_between(level: Level, write: str, end: str) -> History:
    """tx1 reads before a write of tx2 (step 2), while it is open (4), and after its end (6)."""
    return run(
        f"""
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ {write};
/* tx1 */ SELECT * FROM t;
/* tx2 */ {end};
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
""",
        level,
    )


UPDATE, INSERT, DELETE = "UPDATE t SET v = 11 WHERE id = 1", "INSERT INTO t VALUES (3, 30)", "DELETE FROM t"


@pytest.mark.parametrize("level", [RU, RC, RR])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
@pytest.mark.parametrize("write", [UPDATE, INSERT, DELETE])
def test_right_reads_pass(write: str, end: str, level: Level) -> None:
    assert passes(read_between(level, write, end))


@pytest.mark.parametrize(
    ("name", "level", "write", "end", "step", "seen", "differences"),
    [
        pytest.param(
            Phenomenon.P1,
            level,
            UPDATE,
            "COMMIT",
            4,
            ((1, 11), (2, 20)),
            (
                RowDifference((1, 11), True, Reason.UNCOMMITTED, "t", "tx2", 3),
                THERE_FROM_THE_START,
            ),
            id=f"dirty read at {level.short}",
        )
        for level in (RC, RR)
    ]
    + [
        pytest.param(
            Phenomenon.G1A,
            RC,
            INSERT,
            "ROLLBACK",
            6,
            ((1, 10), (2, 20), (3, 30)),
            (RowDifference((3, 30), True, Reason.ROLLED_BACK, "t", "tx2", 3),),
            id="aborted read",
        ),
        pytest.param(
            Phenomenon.P2,
            RR,
            UPDATE,
            "COMMIT",
            6,
            ((1, 11), (2, 20)),
            (
                RowDifference((1, 11), True, Reason.LATER, "t", "tx2", 3),
                THERE_FROM_THE_START,
            ),
            id="non-repeatable read",
        ),
        pytest.param(
            Phenomenon.P3,
            RR,
            INSERT,
            "COMMIT",
            6,
            ((1, 10), (2, 20), (3, 30)),
            (RowDifference((3, 30), True, Reason.LATER, "t", "tx2", 3),),
            id="phantom",
        ),
        pytest.param(
            None,
            RC,
            UPDATE,
            "COMMIT",
            6,
            ((1, 10), (2, 20)),
            (
                RowDifference((1, 10), True, Reason.REPLACED, "t", by="tx2", by_step=3),
                RowDifference((1, 11), False, Reason.COMMITTED, "t", "tx2", 3),
            ),
            id="stale read",
        ),
        pytest.param(
            None,
            RC,
            DELETE,
            "COMMIT",
            6,
            ((1, 10),),
            (RowDifference((1, 10), True, Reason.DELETED, "t", by="tx2", by_step=3),),
            id="deleted row seen",
        ),
        pytest.param(
            None,
            RR,
            DELETE,
            "COMMIT",
            6,
            ((1, 10),),
            (RowDifference((2, 20), False, Reason.INITIAL, "t", by="tx2", by_step=3),),
            id="row missing from the snapshot",
        ),
        pytest.param(
            None,
            RU,
            UPDATE,
            "COMMIT",
            4,
            ((1, 10), (2, 20)),
            (
                RowDifference((1, 10), True, Reason.REPLACED, "t", by="tx2", by_step=3),
                RowDifference((1, 11), False, Reason.DIRTY_COUNTS, "t", "tx2", 3),
            ),
            id="clean read at READ UNCOMMITTED",
        ),
    ],
)
def test_wrong_rows(
    name: Phenomenon | None,
    level: Level,
    write: str,
    end: str,
    step: int,
    seen: tuple[Row, ...],
    differences: tuple[RowDifference, ...],
) -> None:
    history = read_between(level, write, end)
    verdict = violation(with_outcome(history, step, rows(*seen)))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_ROWS, step)
    assert violation_in(verdict).phenomenon == name
    assert differences_of(verdict) == differences
    before = history.records[step].outcome
    assert isinstance(before, Rows)
    assert (expected(verdict), observed(verdict)) == (format_rows(before.rows), format_rows(seen))
    assert violation_in(verdict).because.startswith("tx1 must see ")


@pytest.mark.parametrize("level", EVERY)
def test_own_write_not_seen(level: Level) -> None:
    history = run(
        """
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
""",
        level,
    )
    assert passes(history)
    verdict = violation(with_outcome(history, 2, rows((1, 10), (2, 20))))
    assert verdict.kind is ViolationKind.WRONG_ROWS
    assert RowDifference((1, 11), False, Reason.OWN, "t", "tx1", 1) in differences_of(verdict)


def test_rows_in_the_wrong_order_are_wrong_rows() -> None:
    ordered = run("/* tx1 */ SELECT * FROM t ORDER BY id DESC;")
    free = run("/* tx1 */ SELECT * FROM t;")
    assert passes(ordered)
    assert violation(with_outcome(ordered, 0, rows((1, 10), (2, 20)))).kind is ViolationKind.WRONG_ROWS
    assert passes(with_outcome(free, 0, rows((2, 20), (1, 10))))


def test_a_row_that_comes_twice_is_wrong() -> None:
    verdict = violation(with_outcome(run("/* tx1 */ SELECT * FROM t;"), 0, rows((1, 10), (1, 10), (2, 20))))
    assert differences_of(verdict) == (RowDifference((1, 10), True, Reason.REPEATED, "t"),)


def test_an_aggregate_is_judged_without_versions() -> None:
    history = run("/* tx1 */ SELECT COUNT(*), SUM(v) FROM t;")
    assert passes(history)
    verdict = violation(with_outcome(history, 0, Rows(("c", "s"), ((3, 60),))))
    assert verdict.kind is ViolationKind.WRONG_ROWS
    assert [(one.row, one.extra, one.reason) for one in differences_of(verdict)] == [
        ((3, 60), True, Reason.UNTRACED),
        ((2, 30), False, Reason.UNTRACED),
    ]


def test_a_locking_read_at_repeatable_read_sees_the_newest_rows() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx1 */ COMMIT;
"""
    assert passes(run(schedule, RR))
    verdict = violation(run(schedule, RR, "locking-read-of-snapshot"))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_ROWS, 3)
    assert (expected(verdict), observed(verdict)) == ("(1,11)", "(1,10)")


def test_skip_locked_must_not_give_a_locked_row() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx2 */ SELECT * FROM t FOR UPDATE SKIP LOCKED;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
"""
    right = run(schedule)
    assert passes(right)
    assert passes(with_outcome(right, 3, rows())), "a server may lock more than is sure, and skip more"
    verdict = violation(run(schedule, fault="skip-locked-skips-nothing"))
    assert (verdict.kind, expected(verdict)) == (ViolationKind.WRONG_ROWS, "some of (2,20)")


# -- missing block


@pytest.mark.parametrize("level", EVERY)
@pytest.mark.parametrize(
    ("fault", "first", "second", "held"),
    [
        ("update-without-lock", UPDATE, "UPDATE t SET v = 12 WHERE id = 1", "row (1,11) of t"),
        (
            "delete-without-lock",
            "DELETE FROM t WHERE id = 1",
            "DELETE FROM t WHERE id = 1",
            "row (1,10) of t",
        ),
        ("no-unique-key-lock", INSERT, "INSERT INTO t VALUES (3, 31)", "key (3,) of index PRIMARY"),
        (
            "for-update-without-lock",
            UPDATE,
            "SELECT * FROM t WHERE id = 1 FOR UPDATE",
            "row (1,11) of t",
        ),
        (
            "share-does-not-exclude",
            "SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE",
            UPDATE,
            "row (1,10) of t",
        ),
    ],
)
def test_dirty_write(fault: str, first: str, second: str, held: str, level: Level) -> None:
    schedule = f"""
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ {first};
/* tx2 */ {second};
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
    right = run(schedule, level)
    assert right.records[3].waited
    assert passes(right)
    verdict = violation(run(schedule, level, fault))
    assert (verdict.kind, verdict.step) == (ViolationKind.MISSING_BLOCK, 3)
    assert (expected(verdict), observed(verdict)) == ("blocked by tx1", "not blocked")
    assert violation_in(verdict).because == f"tx1 holds {held} since step 2 and has not ended"


def test_a_write_that_goes_on_before_the_holder_ends_was_resumed_too_early() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
    broken = run(schedule, RC, "update-without-lock")
    early = with_outcome(broken, 3, Affected(1), waited=True)
    assert observed(violation(early)) == "resumed too early"


@pytest.mark.parametrize(
    ("level", "read", "fault"),
    [
        (RR, "SELECT * FROM t WHERE v > 15 FOR UPDATE", "no-predicate-lock-rr"),
        (RR, "DELETE FROM t WHERE v > 100", "no-predicate-lock-rr"),
        (SER, "SELECT * FROM t WHERE v > 15", "no-predicate-lock-ser"),
    ],
)
def test_phantom_where_the_condition_is_locked(level: Level, read: str, fault: str) -> None:
    schedule = f"""
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ {read};
/* tx2 */ INSERT INTO t VALUES (3, 300);
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
"""
    assert passes(run(schedule, level))
    verdict = violation(run(schedule, level, fault))
    assert (verdict.kind, verdict.step) == (ViolationKind.MISSING_BLOCK, 3)
    assert isinstance(witness := violation_in(verdict).witness, WaitWitness)
    assert witness.hold is Hold.CONDITION


def test_below_repeatable_read_no_condition_is_locked() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v > 15 FOR UPDATE;
/* tx2 */ INSERT INTO t VALUES (3, 300);
/* tx1 */ COMMIT;
"""
    history = run(schedule, RC)
    assert not history.records[2].waited
    assert passes(history)


def test_a_server_that_locks_more_is_not_wrong() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 22 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
"""
    history = run(schedule)
    assert passes(with_outcome(history, 3, Affected(1), waited=True, blocked_by=("tx1",)))


# -- wrong affected count


@pytest.mark.parametrize(
    ("sql", "wrong"),
    [
        ("UPDATE t SET v = v + 1", 1),
        ("UPDATE t SET v = 10", 2),  # one row has that value already
        ("DELETE FROM t WHERE v = 10", 0),
        ("INSERT INTO t VALUES (3, 3), (4, 4)", 1),
        ("REPLACE INTO t VALUES (1, 11)", 1),
        ("INSERT INTO t VALUES (1, 11) ON DUPLICATE KEY UPDATE v = 11", 1),
    ],
)
def test_wrong_affected_count(sql: str, wrong: int) -> None:
    history = run(f"/* tx1 */ {sql};")
    outcome = history.records[0].outcome
    assert isinstance(outcome, Affected)
    assert passes(history)
    verdict = violation(with_outcome(history, 0, Affected(wrong)))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_AFFECTED_COUNT, 0)
    assert (expected(verdict), observed(verdict)) == (f"affected {outcome.count}", f"affected {wrong}")


# -- wrong error


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("INSERT INTO t VALUES (1, 0)", "error duplicate-key"),
        ("INSERT INTO t VALUES (NULL, 0)", "error not-null"),
        ("UPDATE t SET id = 2 WHERE id = 1", "error duplicate-key"),
        ("UPDATE t SET v = v * 1000000000", "error out-of-range"),
    ],
)
def test_an_error_that_must_be_and_is_not(sql: str, error: str) -> None:
    history = run(f"/* tx1 */ {sql};")
    assert isinstance(history.records[0].outcome, Failed)
    assert passes(history)
    verdict = violation(with_outcome(history, 0, Affected(1)))
    assert (verdict.kind, expected(verdict)) == (ViolationKind.WRONG_ERROR, error)
    assert observed(verdict) == "success"


@pytest.mark.parametrize(
    "kind",
    [
        ErrorKind.DUPLICATE_KEY,
        ErrorKind.NOT_NULL,
        ErrorKind.OUT_OF_RANGE,
        ErrorKind.LOCK_TIMEOUT,
        ErrorKind.LOCK_NOT_AVAILABLE,
        ErrorKind.SERIALIZATION_FAILURE,
        ErrorKind.RECORD_CHANGED,
        ErrorKind.WRITE_CONFLICT,
    ],
)
def test_an_error_that_must_not_be(kind: ErrorKind) -> None:
    history = run("/* tx1 */ INSERT INTO t VALUES (3, 30);")
    refused = replace(with_outcome(history, 0, failed(kind)), final=history.initial)
    verdict = violation(refused)
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_ERROR, 0)
    assert (expected(verdict), observed(verdict)) == ("success", f"error {kind.value} 4711")


@pytest.mark.parametrize("kind", [ErrorKind.DEADLOCK, ErrorKind.RESOURCES, ErrorKind.CANCELLED])
def test_errors_that_are_always_allowed(kind: ErrorKind) -> None:
    history = run("/* tx1 */ INSERT INTO t VALUES (3, 30);")
    assert passes(replace(with_outcome(history, 0, failed(kind)), final=history.initial))


@pytest.mark.parametrize("kind", [ErrorKind.CHECK, ErrorKind.CONNECTION_LOST, ErrorKind.INTERNAL])
def test_errors_about_which_the_schema_tells_nothing_are_unknown(kind: ErrorKind) -> None:
    history = run("/* tx1 */ INSERT INTO t VALUES (3, 30);")
    assert kind.value in unknown(replace(with_outcome(history, 0, failed(kind)), final=history.initial))


def test_a_lock_time_out_is_allowed_to_those_who_waited() -> None:
    history = run("/* tx1 */ UPDATE t SET v = v + 1;")
    timed_out = with_outcome(history, 0, failed(ErrorKind.LOCK_TIMEOUT), waited=True)
    assert passes(replace(timed_out, final=history.initial))


def test_nowait_may_be_refused_and_a_patient_read_may_not() -> None:
    refused = failed(ErrorKind.LOCK_NOT_AVAILABLE)
    for sql, right in (
        ("SELECT * FROM t FOR UPDATE NOWAIT", True),
        ("SELECT * FROM t FOR UPDATE", False),
    ):
        history = with_outcome(run(f"/* tx1 */ BEGIN; /* tx1 */ {sql}; /* tx1 */ COMMIT;"), 1, refused)
        assert (solver.judge(history).judgement is Judgement.PASS) is right


def test_of_two_errors_either_may_come() -> None:
    history = run("/* tx1 */ INSERT INTO t VALUES (1, 3000000000);")
    for kind in (ErrorKind.DUPLICATE_KEY, ErrorKind.OUT_OF_RANGE):
        assert passes(with_outcome(history, 0, failed(kind)))


@pytest.mark.parametrize("kind", [None, ErrorKind.DUPLICATE_KEY])
def test_a_swap_of_keys_may_fail_or_not(kind: ErrorKind | None) -> None:
    history = run("/* tx1 */ UPDATE t SET id = 3 - id;")
    if kind is None:
        done = replace(with_outcome(history, 0, Affected(2)), final={"t": ((1, 20), (2, 10))})
    else:
        done = replace(with_outcome(history, 0, failed(kind)), final=history.initial)
    assert passes(done)


# -- errors of a lost conflict, on engines that have such

LOST_UPDATE = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET v = 15 WHERE id = 1;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ COMMIT;
"""


def integers(schema: Schema) -> Schema:
    """The same tables with the types that PostgreSQL names."""
    tables = [
        replace(one, columns=tuple(replace(column, type="integer") for column in one.columns))
        for one in schema.tables
    ]
    return Schema(tuple(tables))


@pytest.mark.parametrize(
    ("dbms", "settings", "level", "kind"),
    [
        ("mariadb", {"innodb_snapshot_isolation": "ON"}, RR, ErrorKind.RECORD_CHANGED),
        ("postgres", {}, RR, ErrorKind.SERIALIZATION_FAILURE),
        ("postgres", {}, SER, ErrorKind.SERIALIZATION_FAILURE),
    ],
)
def test_lost_update_where_the_second_writer_must_fail(
    dbms: str, settings: dict[str, str], level: Level, kind: ErrorKind
) -> None:
    ran = run(LOST_UPDATE, RR)
    history = replace(
        ran,
        dbms=dbms,
        settings=settings,
        levels=dict.fromkeys(ran.levels, level),
        schema=integers(ran.schema) if dbms == "postgres" else ran.schema,
    )
    verdict = violation(history)
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_ERROR, 3)
    assert (expected(verdict), observed(verdict)) == (f"error {kind.value}", "success")
    assert violation_in(verdict).because == "tx2 changed a row of t after the snapshot and committed"
    lost = with_outcome(history, 3, failed(kind, Undone.TRANSACTION))
    assert passes(replace(lost, final={"t": ((1, 15), (2, 20))}))


@pytest.mark.parametrize(
    ("dbms", "settings"), [("mysql", {}), ("mariadb", {"innodb_snapshot_isolation": "OFF"})]
)
def test_lost_update_where_it_is_allowed(dbms: str, settings: dict[str, str]) -> None:
    assert passes(replace(run(LOST_UPDATE, RR), dbms=dbms, settings=settings))


def test_an_optimistic_transaction_must_fail_at_commit() -> None:
    history = replace(run(LOST_UPDATE, RR), dbms="tidb", settings={"tidb_txn_mode": "optimistic"})
    verdict = violation(history)
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_ERROR, 4)
    assert violation_in(verdict).because == "tx2 changed a row of t after the snapshot and committed first"
    lost = with_outcome(history, 4, failed(ErrorKind.WRITE_CONFLICT, Undone.TRANSACTION))
    assert passes(replace(lost, final={"t": ((1, 15), (2, 20))}))


# -- wrong final state


def test_wrong_final_state() -> None:
    history = run("/* tx1 */ BEGIN; /* tx1 */ UPDATE t SET v = 11 WHERE id = 1; /* tx1 */ COMMIT;")
    verdict = violation(replace(history, final={"t": ((1, 10), (2, 20))}))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_FINAL_STATE, None)
    assert (expected(verdict), observed(verdict)) == ("t: (1,11) (2,20)", "t: (1,10) (2,20)")
    assert differences_of(verdict) == (
        RowDifference((1, 10), True, Reason.REPLACED, "t", by="tx1", by_step=1),
        RowDifference((1, 11), False, Reason.COMMITTED, "t", "tx1", 1),
    )


@pytest.mark.parametrize(
    "end", ["ROLLBACK", "ROLLBACK TO SAVEPOINT a; /* tx1 */ COMMIT"], ids=["rollback", "savepoint"]
)
def test_what_was_taken_back_must_not_stay(end: str) -> None:
    history = run(
        f"/* tx1 */ BEGIN; /* tx1 */ SAVEPOINT a; /* tx1 */ INSERT INTO t VALUES (3, 30); /* tx1 */ {end};"
    )
    assert passes(history)
    verdict = violation(replace(history, final={"t": ((1, 10), (2, 20), (3, 30))}))
    assert verdict.kind is ViolationKind.WRONG_FINAL_STATE
    assert [(one.row, one.extra) for one in differences_of(verdict)] == [((3, 30), True)]


def test_a_transaction_left_open_leaves_nothing() -> None:
    history = run("/* tx1 */ BEGIN; /* tx1 */ INSERT INTO t VALUES (3, 30);")
    assert passes(history)
    assert violation(replace(history, final={"t": ((1, 10), (2, 20), (3, 30))})).step is None


def test_the_victim_of_a_deadlock_leaves_nothing_and_may_go_on() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 22 WHERE id = 2;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;
/* tx2 */ INSERT INTO t VALUES (4, 40);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
    history = run(schedule)
    assert history.final == {"t": ((1, 11), (2, 21), (4, 40))}
    assert any(
        isinstance(one.outcome, Failed) and one.outcome.kind is ErrorKind.DEADLOCK for one in history.records
    )
    assert passes(history)
    verdict = violation(run(schedule, fault="deadlock-victim-kept"))
    assert (verdict.kind, verdict.step) == (ViolationKind.WRONG_FINAL_STATE, None)
    assert [(one.row, one.extra) for one in differences_of(verdict)] == [((3, 30), True)]


# -- several right answers


def test_a_read_with_an_impossible_condition_may_open_a_snapshot_or_not() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE {condition};
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
    old, new = rows((1, 10), (2, 20)), rows((1, 11), (2, 20))
    impossible = run(schedule.format(condition="1 = 2"), RR)
    assert passes(with_outcome(impossible, 3, old))
    assert passes(with_outcome(impossible, 3, new))
    real = run(schedule.format(condition="id = 1"), RR)
    assert passes(with_outcome(real, 3, old))
    assert violation(with_outcome(real, 3, new)).step == 3


def test_once_a_later_read_has_chosen_a_snapshot_it_stays() -> None:
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE 1 = 2;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
    old, new = rows((1, 10), (2, 20)), rows((1, 11), (2, 20))
    history = run(schedule, RR)
    assert passes(with_outcome(with_outcome(history, 3, new), 4, new))
    assert violation(with_outcome(with_outcome(history, 3, new), 4, old)).step == 4
    assert violation(with_outcome(with_outcome(history, 3, old), 4, new)).step == 4


def test_a_snapshot_is_taken_at_begin_if_it_says_so() -> None:
    schedule = """
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
    history = run(schedule, RR)
    assert passes(with_outcome(history, 2, rows((1, 10), (2, 20))))
    assert violation(with_outcome(history, 2, rows((1, 11), (2, 20)))).step == 2


def test_mixed_levels_are_judged_each_by_its_own() -> None:
    case = """
-- level tx1: RC
-- level tx2: RR
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx3 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(parse_case(case, "mixed"))
    assert (history.levels["tx1"], history.levels["tx2"]) == (RC, RR)
    assert passes(history)
    old, new = rows((1, 10), (2, 20)), rows((1, 11), (2, 20))
    assert violation(with_outcome(history, 5, old)).step == 5
    assert violation(with_outcome(history, 6, new)).step == 6


# -- automatic numbers


def test_automatic_numbers_do_not_go_back() -> None:
    setup = "CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nINSERT INTO n VALUES (3, 0);\n"
    schedule = """
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO n (v) VALUES (1);
/* tx1 */ ROLLBACK;
/* tx1 */ INSERT INTO n (v) VALUES (2);
"""
    history = run(schedule, setup=setup)
    assert history.final == {"n": ((3, 0), (5, 2))}
    assert passes(history)
    assert violation(replace(history, final={"n": ((3, 0), (4, 2))})).step is None


def test_an_insert_that_failed_keeps_its_numbers() -> None:
    setup = (
        "CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE);\nINSERT INTO n VALUES (3, 0);\n"
    )
    history = run(
        "/* tx1 */ INSERT INTO n (v) VALUES (1), (0); /* tx1 */ INSERT INTO n (v) VALUES (2);", setup=setup
    )
    assert history.final == {"n": ((3, 0), (6, 2))}
    assert passes(history)
    assert violation(replace(history, final={"n": ((3, 0), (4, 2))})).step is None


# -- no judgement


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("/* tx1 */ CREATE TABLE u (a INT);", "statements inside the schedule"),
        ("/* tx1 */ SELECT RAND() FROM t;", ""),
        ("/* tx1 */ DELETE FROM t LIMIT 1;", "LIMIT"),
    ],
)
def test_what_cannot_be_judged_is_unknown_and_says_why(schedule: str, reason: str) -> None:
    history = with_outcome(run(schedule), 0, Affected(0))
    assert reason in unknown(history)


def test_a_dbms_without_claims_is_unknown() -> None:
    assert "oracle" in unknown(replace(run("/* tx1 */ SELECT * FROM t;"), dbms="oracle"))


def test_a_dead_server_is_unknown() -> None:
    assert unknown(replace(run("/* tx1 */ SELECT * FROM t;"), final=None, died=True)) == "the server died"


def test_a_statement_that_overran_is_unknown() -> None:
    history = with_outcome(run("/* tx1 */ SELECT * FROM t;"), 0, Overran(1.0))
    assert unknown(history)


def test_a_violation_before_what_cannot_be_judged_still_counts() -> None:
    history = run("/* tx1 */ SELECT * FROM t; /* tx1 */ CREATE TABLE u (a INT);")
    assert violation(with_outcome(history, 0, rows((1, 10)))).step == 0


# -- planted faults


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_planted_fault_is_noticed_at_some_level_and_its_absence_passes(fault: Fault) -> None:
    case = load_case(case_file(fault))
    noticed = []
    for level in fault.levels:
        with open_target("simulated") as target, Executor(target) as executor:
            assert passes(executor.run(case.at_level(level)))
        with open_target(f"simulated@{fault.name}") as target, Executor(target) as executor:
            noticed.append(solver.judge(executor.run(case.at_level(level))).judgement)
    assert Judgement.VIOLATION in noticed
