"""The simulated engines that work on snapshots, without faults: what they see, wait for, refuse and undo."""

import pytest

from acidtest.errors import UsageError
from acidtest.model import ErrorKind, Failed, Level, TransactionState, Undone
from acidtest.simulated import BEHAVIOURS, spec_of
from acidtest.targets.resolve import levels_of, open_target
from tests.unit.plays import Play

KEEP_SNAPSHOT = [name for name in BEHAVIOURS if name not in ("locking", "recheck")]


def play(engine: str, script: str) -> Play:
    with open_target(spec_of(engine)) as target:
        return Play(target, target.default_level, script)


# -- snapshots


READ_TWICE = """1 BEGIN
    1 SELECT v FROM t WHERE id = 1
    2 UPDATE t SET v = 11 WHERE id = 1
    1 SELECT v FROM t WHERE id = 1
    1 COMMIT"""


@pytest.mark.parametrize("engine", KEEP_SNAPSHOT)
def test_a_transaction_keeps_its_snapshot(engine: str) -> None:
    run = play(engine, READ_TWICE)
    assert (run.rows(1), run.rows(3)) == (((10,),), ((10,),))


def test_at_read_committed_every_statement_has_its_own() -> None:
    run = play("recheck", READ_TWICE)
    assert (run.rows(1), run.rows(3)) == (((10,),), ((11,),))


@pytest.mark.parametrize("engine", KEEP_SNAPSHOT)
def test_the_first_statement_takes_the_snapshot_or_begin_does(engine: str) -> None:
    run = play(engine, "1 BEGIN\n2 UPDATE t SET v = 11 WHERE id = 1\n1 SELECT v FROM t WHERE id = 1")
    assert run.rows(2) == ((10 if engine == "optimistic" else 11,),)


# -- two writers of one row

TWO_WRITERS = """1 BEGIN
    2 BEGIN
    1 UPDATE t SET v = v + 1 WHERE id = 1
    2 UPDATE t SET v = v + 100 WHERE v = 10
    1 {end}
    2 COMMIT"""


@pytest.mark.parametrize(("end", "left"), [("COMMIT", 11), ("ROLLBACK", 110)])
def test_a_write_that_waited_tests_its_rows_again(end: str, left: int) -> None:
    run = play("recheck", TWO_WRITERS.format(end=end))
    assert run.waited() == {3: ("tx1",)}
    assert run.final["t"] == ((1, left), (2, 20))


@pytest.mark.parametrize("engine", ["fail", "ssi"])
def test_a_write_that_waited_fails_if_the_other_committed(engine: str) -> None:
    run = play(engine, TWO_WRITERS.format(end="COMMIT"))
    assert (run.waited(), run.error(3)) == ({3: ("tx1",)}, ErrorKind.SERIALIZATION_FAILURE)
    assert run.final["t"] == ((1, 11), (2, 20))
    run = play(engine, TWO_WRITERS.format(end="ROLLBACK"))
    assert run.final["t"] == ((1, 110), (2, 20))


@pytest.mark.parametrize(
    ("engine", "step", "error"),
    [
        ("one-writer", 3, ErrorKind.LOCK_NOT_AVAILABLE),
        ("refuse", 3, ErrorKind.WRITE_CONFLICT),
        ("optimistic", 5, ErrorKind.WRITE_CONFLICT),
    ],
)
def test_engines_that_never_wait_refuse_the_second_writer(engine: str, step: int, error: ErrorKind) -> None:
    run = play(engine, TWO_WRITERS.format(end="COMMIT"))
    assert (run.waited(), run.error(step)) == ({}, error)
    assert run.final["t"] == ((1, 11), (2, 20))


def test_a_write_that_waited_finds_no_rows_that_match_only_now() -> None:
    run = play(
        "recheck",
        """1 BEGIN
        1 UPDATE t SET v = 10 WHERE id = 2
        1 UPDATE t SET v = 11 WHERE id = 1
        2 UPDATE t SET v = 0 WHERE v <= 11
        1 COMMIT""",
    )
    assert (run.count(3), run.final["t"]) == (1, ((1, 0), (2, 10)))


# -- one writer


def test_only_the_newest_snapshot_may_be_written_on() -> None:
    run = play(
        "one-writer",
        """1 BEGIN
        1 SELECT * FROM t WHERE id = 2
        2 UPDATE t SET v = 11 WHERE id = 1
        1 UPDATE t SET v = 21 WHERE id = 2
        1 COMMIT""",
    )
    assert run.error(3) is ErrorKind.SERIALIZATION_FAILURE
    assert run.records[3].after is TransactionState.OPEN


def test_a_first_statement_that_is_refused_leaves_no_snapshot_behind() -> None:
    run = play(
        "one-writer",
        """1 BEGIN
        2 BEGIN
        1 UPDATE t SET v = 11 WHERE id = 1
        2 UPDATE t SET v = 21 WHERE id = 2
        1 COMMIT
        2 UPDATE t SET v = 22 WHERE id = 2
        2 COMMIT""",
    )
    assert (run.error(3), run.count(5)) == (ErrorKind.LOCK_NOT_AVAILABLE, 1)
    assert run.final["t"] == ((1, 11), (2, 22))


# -- dangerous structures

SKEW = """1 BEGIN
    2 BEGIN
    1 SELECT v FROM t WHERE id = 2
    2 SELECT v FROM t WHERE id = {0}
    1 UPDATE t SET v = 11 WHERE id = 1
    2 UPDATE t SET v = 21 WHERE id = 2
    1 COMMIT
    2 COMMIT"""


@pytest.mark.parametrize(("engine", "fails"), [("fail", False), ("ssi", True)])
def test_write_skew(engine: str, fails: bool) -> None:
    run = play(engine, SKEW.format(1))
    assert isinstance(run.records[7].outcome, Failed) is fails


def test_one_conflict_alone_is_not_dangerous() -> None:
    run = play("ssi", SKEW.format(2))
    assert not any(isinstance(record.outcome, Failed) for record in run.records)


# -- what errors undo


@pytest.mark.parametrize("engine", ["recheck", "fail", "ssi", "refuse"])
def test_an_error_fails_the_transaction(engine: str) -> None:
    run = play(
        engine,
        """1 BEGIN
        1 UPDATE t SET v = 11 WHERE id = 1
        1 INSERT INTO t VALUES (2, 0)
        1 SELECT * FROM t
        1 COMMIT""",
    )
    outcome = run.records[2].outcome
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.undone) == (ErrorKind.DUPLICATE_KEY, Undone.TRANSACTION)
    assert [run.error(step) for step in (3, 4)] == [ErrorKind.TRANSACTION_STATE] * 2
    assert run.records[3].after is TransactionState.FAILED
    assert run.final["t"] == ((1, 10), (2, 20))


@pytest.mark.parametrize("engine", ["recheck", "fail", "ssi"])
def test_a_savepoint_brings_a_failed_transaction_back(engine: str) -> None:
    run = play(
        engine,
        """1 BEGIN
        1 UPDATE t SET v = 11 WHERE id = 1
        1 SAVEPOINT a
        1 INSERT INTO t VALUES (2, 0)
        1 ROLLBACK TO SAVEPOINT a
        1 UPDATE t SET v = 21 WHERE id = 2
        1 COMMIT""",
    )
    assert run.final["t"] == ((1, 11), (2, 21))


@pytest.mark.parametrize("engine", ["one-writer", "optimistic"])
def test_elsewhere_an_error_undoes_its_statement_only(engine: str) -> None:
    run = play(
        engine,
        """1 BEGIN
        1 UPDATE t SET v = 11 WHERE id = 1
        1 INSERT INTO t VALUES (3, 30), (2, 0)
        1 COMMIT""",
    )
    assert run.final["t"] == ((1, 11), (2, 20))


@pytest.mark.parametrize(("engine", "left"), [("recheck", 10), ("optimistic", 11)])
def test_a_savepoint_of_the_same_name_hides_the_old_one_or_replaces_it(engine: str, left: int) -> None:
    run = play(
        engine,
        """1 BEGIN
        1 SAVEPOINT a
        1 UPDATE t SET v = 12 WHERE id = 1
        1 SAVEPOINT a
        1 UPDATE t SET v = 11 WHERE id = 1
        1 RELEASE SAVEPOINT a
        1 ROLLBACK TO SAVEPOINT a
        1 COMMIT""",
    )
    assert run.final["t"][0] == (1, left)


# -- the target


@pytest.mark.parametrize("engine", BEHAVIOURS)
def test_a_target_has_the_levels_of_its_engine_and_says_which_it_is(engine: str) -> None:
    assert levels_of(spec_of(engine)) == BEHAVIOURS[engine].levels
    with open_target(spec_of(engine)) as target, target.sibling() as sibling:
        assert target.settings() == sibling.settings() == {"simulated_engine": engine}
        assert target.default_level in target.levels


def test_every_engine_can_be_named_and_no_other() -> None:
    with pytest.raises(UsageError) as refused:
        levels_of("simulated?engine=steam")
    assert all(name in str(refused.value) for name in BEHAVIOURS)


def test_a_fault_of_another_engine_is_not_known() -> None:
    with pytest.raises(UsageError, match="no fault 'recheck-skipped'"):
        open_target("simulated@recheck-skipped?engine=fail")
    open_target("simulated@recheck-skipped?engine=recheck").close()


def test_levels_of_another_engine_are_refused() -> None:
    with open_target("simulated?engine=ssi") as target, pytest.raises(UsageError, match="SERIALIZABLE"):
        target.check_levels([Level.READ_COMMITTED])
