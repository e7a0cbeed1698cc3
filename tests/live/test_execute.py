"""The executor on real servers: who waits, who resumes in which order, and what is left behind."""

from collections.abc import Iterator

import pytest

from acidtest.casefile import parse_case
from acidtest.execute import Executor, Limits
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    ErrorKind,
    EventKind,
    Failed,
    History,
    Level,
    Omitted,
    Overran,
    Rows,
    TransactionState,
)
from acidtest.targets.resolve import open_target

SPECS = ("postgres", "mariadb@10.11", "mysql@9.7", "mysql@5.6", "seekdb")

SETUP = """\
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
-- schedule
"""


@pytest.fixture(scope="module", params=[pytest.param(spec, marks=pytest.mark.live(spec)) for spec in SPECS])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with open_target(request.param) as target, Executor(target) as executor:
        yield executor


def case(schedule: str) -> Case:
    return parse_case(SETUP + schedule, "case").at_level(Level.READ_COMMITTED)


def value_of(history: History, row: int) -> object:
    assert history.final is not None
    return next(value for key, value in history.final["t"] if key == row)


def test_two_sessions_wait_for_one_and_resume_in_the_order_of_the_server(executor: Executor) -> None:
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx3 */ UPDATE t SET value = 13 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
"""
        )
    )
    assert [history.records[step].waited for step in (4, 5)] == [True, True]
    assert "tx1" in history.records[4].blocked_by
    resumed = [event.step for event in history.events if event.kind is EventKind.RESUMED]
    first, last = resumed[0], resumed[-1]
    assert {first, last} == {4, 5}
    assert history.records[first].resumed_by == 6
    # Who went first is the server's choice; the other is released by its COMMIT, and writes last.
    first_commit = {4: 7, 5: 8}[first]
    assert history.records[last].resumed_by == first_commit
    order = history.observed_order
    assert order.index(6) < order.index(first) < order.index(first_commit) < order.index(last)
    assert value_of(history, 1) == {4: 12, 5: 13}[last]


def test_a_chain_of_waits_unwinds_link_by_link(executor: Executor) -> None:
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 22 WHERE id = 2;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx3 */ UPDATE t SET value = 23 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
"""
        )
    )
    assert history.records[5].blocked_by == ("tx1",)
    assert history.records[6].blocked_by == ("tx2",)
    assert (history.records[5].resumed_by, history.records[6].resumed_by) == (7, 8)
    assert (value_of(history, 1), value_of(history, 2)) == (12, 23)


def test_several_sessions_released_by_one_commit(executor: Executor) -> None:
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET value = value + 1;
/* tx2 */ UPDATE t SET value = value + 100 WHERE id = 2;
/* tx3 */ UPDATE t SET value = value + 100 WHERE id = 3;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
"""
        )
    )
    assert {history.records[step].resumed_by for step in (4, 5)} == {6}
    order = history.observed_order
    assert order.index(6) < min(order.index(4), order.index(5))
    assert history.final == {"t": ((1, 11), (2, 121), (3, 131))}


def test_a_deadlock_has_one_victim_and_the_other_goes_on(executor: Executor) -> None:
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 22 WHERE id = 2;
/* tx1 */ UPDATE t SET value = 12 WHERE id = 2;
/* tx2 */ UPDATE t SET value = 21 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""
        )
    )
    outcomes = [history.records[4].outcome, history.records[5].outcome]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert [outcome.kind for outcome in failed] == [ErrorKind.DEADLOCK]
    assert Affected(1) in [Affected(o.count) for o in outcomes if isinstance(o, Affected)]
    victim = next(r for r in history.records if isinstance(r.outcome, Failed) and r.step in (4, 5))
    assert victim.resumed_by is None
    assert [e.step for e in history.events if e.kind is EventKind.ABORTED] == [victim.step]
    assert (value_of(history, 1), value_of(history, 2)) in {(11, 12), (21, 22)}


def test_a_statement_that_waits_for_good_is_cancelled(executor: Executor) -> None:
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx2 */ SELECT * FROM t;
"""
        )
    )
    assert history.records[2].outcome == Blocked(("tx1",))
    assert isinstance(history.records[3].outcome, Omitted)
    assert value_of(history, 1) == 10, "an open transaction is rolled back at the end"


LOCK_TIMEOUTS = {"postgres": "SET lock_timeout = '300ms'", "seekdb": "SET ob_trx_lock_timeout = 300000"}


def test_a_lock_timeout_is_an_outcome_of_its_own(executor: Executor) -> None:
    setting = LOCK_TIMEOUTS.get(executor.target.dbms, "SET innodb_lock_wait_timeout = 1")
    history = executor.run(
        case(
            f"""\
/* tx2 */ {setting};
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx2 */ SELECT value FROM t WHERE id = 1;
"""
        )
    )
    outcome = history.records[3].outcome
    assert isinstance(outcome, Failed)
    assert outcome.kind is ErrorKind.LOCK_TIMEOUT
    assert history.records[3].waited
    assert history.records[3].resumed_by is None
    assert history.records[4].outcome == Rows(("value",), ((10,),))


def test_a_long_statement_that_waits_for_no_lock_runs_over_the_limit(executor: Executor) -> None:
    sleep = "pg_sleep(60)" if executor.target.dbms == "postgres" else "SLEEP(60)"
    with Executor(executor.target, Limits(statement_s=0.3, cancel_s=10)) as hasty:
        history = hasty.run(case(f"/* tx1 */ SELECT {sleep};\n/* tx1 */ SELECT 1;\n/* tx2 */ SELECT 2;\n"))
        assert history.records[0].outcome == Overran(0.3)
        assert isinstance(history.records[1].outcome, Omitted)
        assert isinstance(history.records[2].outcome, Rows)
        after = hasty.run(case("/* tx1 */ SELECT 1;\n"))
        assert isinstance(after.records[0].outcome, Rows)


def test_ddl_in_the_schedule_waits_for_a_reader_and_the_next_case_starts_anew(executor: Executor) -> None:
    if executor.target.dbms == "seekdb":
        pytest.skip("seekdb's DDL does not wait for open transactions")
    history = executor.run(
        case(
            """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ ALTER TABLE t ADD COLUMN extra INT;
/* tx1 */ COMMIT;
/* tx2 */ SELECT extra FROM t WHERE id = 1;
"""
        )
    )
    assert history.records[2].waited
    assert history.records[2].resumed_by == 3
    assert history.final is not None
    assert {len(row) for row in history.final["t"]} == {3}
    again = executor.run(case("/* tx1 */ SELECT * FROM t WHERE id = 1;\n"))
    assert again.records[0].outcome == Rows(("id", "value"), ((1, 10),))


def test_nothing_of_a_session_leaks_into_the_next_case(executor: Executor) -> None:
    postgres = executor.target.dbms == "postgres"
    setting = "SET search_path = nowhere" if postgres else "SET @x = 5"
    executor.run(case(f"/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET value = 0;\n/* tx1 */ {setting};\n"))
    history = executor.run(case("/* tx1 */ SELECT value FROM t WHERE id = 1;\n"))
    assert history.records[0].outcome == Rows(("value",), ((10,),))
    assert history.records[0].before is TransactionState.NONE
    if not postgres:
        history = executor.run(case("/* tx1 */ SELECT @x IS NULL AS gone;\n"))
        assert history.records[0].outcome == Rows(("gone",), ((1,),))


def test_two_executors_share_a_target_case_by_case(executor: Executor) -> None:
    """Each has a watch of its own, and a question that is still under way when the other one runs."""
    waits = case(
        "/* tx1 */ BEGIN;\n/* tx1 */ UPDATE t SET value = 0;\n/* tx2 */ DELETE FROM t;\n/* tx1 */ COMMIT;\n"
    )
    with Executor(executor.target) as other:
        for one in (executor, other) * 3:
            assert one.run(waits).records[2].resumed_by == 3


TIMEOUTS = {
    "postgres": ("SET lock_timeout = '100ms'", "BEGIN"),
    "mysql": ("SET innodb_lock_wait_timeout = 1", "BEGIN"),
}


def test_an_awaited_statement_runs_into_its_time_out_before_the_schedule_goes_on(executor: Executor) -> None:
    if executor.target.dbms == "seekdb":
        pytest.skip("its lock time-out is a setting of the server")
    set_timeout, begin = TIMEOUTS.get(executor.target.dbms, TIMEOUTS["mysql"])
    history = executor.run(
        case(
            f"""\
/* tx1 */ {begin};
/* tx1+ */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ {set_timeout};
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
-- await
/* tx1 */ COMMIT;
"""
        )
    )
    failed = history.records[3].outcome
    assert isinstance(failed, Failed)
    assert failed.kind in (ErrorKind.LOCK_TIMEOUT, ErrorKind.LOCK_NOT_AVAILABLE)
    assert history.observed_order == (0, 1, 2, 3, 4)
    assert value_of(history, 1) == 11


@pytest.mark.live("postgres")
def test_a_session_that_idles_too_long_in_its_transaction_lets_others_go_on() -> None:
    with open_target("postgres") as target, Executor(target) as executor:
        history = executor.run(
            case(
                """\
/* tx1 */ SET idle_in_transaction_session_timeout = '100ms';
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = value + 2 WHERE id = 1;
"""
            )
        )
    assert history.records[3].waited
    assert history.records[3].outcome == Affected(1)
    assert value_of(history, 1) == 12


@pytest.mark.live("postgres")
def test_a_script_is_one_message_and_the_teardown_takes_back_what_lies_outside_the_database() -> None:
    text = """\
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
CREATE ROLE acidtest_teardown;
-- schedule
/* a */ INSERT INTO t VALUES (1)\\; INSERT INTO t VALUES (1);
/* a */ INSERT INTO t VALUES (2)\\; SELECT a FROM t\\; SELECT a + 1 FROM t;
-- teardown
DROP ROLE acidtest_teardown;
DROP ROLE acidtest_nobody;
"""
    with open_target("postgres") as target, Executor(target) as executor:
        for _ in range(2):  # the second set-up would be refused if the role were still there
            history = executor.run(parse_case(text, "case"))
            first, second = history.records
            assert isinstance(first.outcome, Failed)
            assert second.outcome == Rows(("?column?",), ((3,),))
            assert second.parts == (Affected(1), Rows(("a",), ((2,),)), second.outcome)
            assert history.final == {"t": ((2,),)}
            ((sql, failure),) = history.teardown_failures
            assert sql == "DROP ROLE acidtest_nobody"
            assert isinstance(failure, Failed)
