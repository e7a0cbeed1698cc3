"""Which transactions of a history a serial run has to repeat, told without a server."""

import pytest

from acidtest.casefile import parse_case
from acidtest.model import (
    Affected,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    History,
    Indeterminate,
    Level,
    Outcome,
    Record,
    Schema,
    TransactionState,
    Undone,
)
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.serial import committed_units

NONE, OPEN = TransactionState.NONE, TransactionState.OPEN
DEADLOCK = Failed(ErrorKind.DEADLOCK, "1213", "deadlock", Undone.TRANSACTION)
DUPLICATE = Failed(ErrorKind.DUPLICATE_KEY, "1062", "duplicate", Undone.STATEMENT)

Line = tuple[str, str, TransactionState, TransactionState, Outcome]


def history_of(*lines: Line) -> History:
    """A history in which each line is a step that completes before the next begins."""
    text = "\n".join(f"/* {session} */ {sql};" for session, sql, *_ in lines)
    case = parse_case(f"-- setup\nCREATE TABLE t (a INT);\n-- schedule\n{text}\n", "serial")
    return History(
        origin=case,
        target="sqlite",
        version="3",
        levels={session: Level.SERIALIZABLE for session, *_ in lines},
        schema=Schema(),
        initial={},
        events=tuple(Event(EventKind.COMPLETED, i, line[0]) for i, line in enumerate(lines)),
        records=tuple(
            Record(i, session, sql, outcome, before=before, after=after)
            for i, (session, sql, before, after, outcome) in enumerate(lines)
        ),
        final={},
        dbms="sqlite",
    )


def done(session: str, sql: str, before: TransactionState, after: TransactionState) -> Line:
    return session, sql, before, after, Affected(0)


def test_units_come_in_the_order_of_their_commits() -> None:
    history = history_of(
        done("tx1", "BEGIN", NONE, OPEN),
        done("tx2", "BEGIN", NONE, OPEN),
        done("tx2", "DELETE FROM t", OPEN, OPEN),
        done("tx2", "COMMIT", OPEN, NONE),
        done("tx1", "COMMIT", OPEN, NONE),
    )
    assert [unit.name for unit in committed_units(history)] == ["tx2@1", "tx1@0"]


def test_statements_outside_are_transactions_of_their_own() -> None:
    history = history_of(done("tx1", "DELETE FROM t", NONE, NONE), done("tx1", "DELETE FROM t", NONE, NONE))
    assert [len(unit.records) for unit in committed_units(history)] == [1, 1]


@pytest.mark.parametrize("end", ["ROLLBACK", ""])
def test_what_did_not_commit_is_left_out(end: str) -> None:
    lines = [done("tx1", "BEGIN", NONE, OPEN), done("tx1", "DELETE FROM t", OPEN, OPEN)]
    if end:
        lines.append(done("tx1", end, OPEN, NONE))
    assert committed_units(history_of(*lines)) == []


def test_a_deadlock_victim_is_left_out_and_what_it_does_afterwards_stands_alone() -> None:
    history = history_of(
        done("tx1", "BEGIN", NONE, OPEN),
        ("tx1", "UPDATE t SET a = 1", OPEN, NONE, DEADLOCK),
        done("tx1", "DELETE FROM t", NONE, NONE),
        done("tx1", "COMMIT", NONE, NONE),
    )
    assert [unit.name for unit in committed_units(history)] == ["tx1@2"]


def test_a_duplicate_key_is_a_result_that_has_to_come_again() -> None:
    history = history_of(
        done("tx1", "BEGIN", NONE, OPEN),
        ("tx1", "INSERT INTO t VALUES (1)", OPEN, OPEN, DUPLICATE),
        done("tx1", "COMMIT", OPEN, NONE),
    )
    assert [record.step for record in committed_units(history)[0].records] == [0, 1, 2]


def test_what_changes_the_session_is_not_judged() -> None:
    with pytest.raises(UndecidedError):
        committed_units(history_of(done("tx1", "SET a = 1", NONE, NONE)))


def test_a_commit_without_an_answer_is_not_taken_for_one_that_failed() -> None:
    lost = Indeterminate("2013", "the server closed the connection")
    history = history_of(done("tx1", "BEGIN", NONE, OPEN), ("tx1", "COMMIT", OPEN, NONE, lost))
    with pytest.raises(UndecidedError, match="whether tx1's COMMIT took effect is not known"):
        committed_units(history)


def test_settings_that_decide_nothing_are_not_repeated() -> None:
    history = history_of(
        done("tx1", "BEGIN", NONE, OPEN),
        done("tx1", "PRAGMA busy_timeout = 10", OPEN, OPEN),
        done("tx1", "DELETE FROM t", OPEN, OPEN),
        done("tx1", "COMMIT", OPEN, NONE),
    )
    assert [record.sql for record in committed_units(history)[0].records] == [
        "BEGIN",
        "DELETE FROM t",
        "COMMIT",
    ]
    with pytest.raises(UndecidedError, match="session statements"):
        committed_units(history_of(done("tx1", "PRAGMA foreign_keys = ON", NONE, NONE)))
