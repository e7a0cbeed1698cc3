"""The crash oracle: the smallest clean history, and one for each way in which a server breaks."""

from dataclasses import replace

import pytest

from acidtest.casefile import parse_case
from acidtest.findings.signature import signature_of
from acidtest.model import (
    Affected,
    ErrorKind,
    Failed,
    History,
    Indeterminate,
    Judgement,
    Level,
    Outcome,
    Record,
    Schema,
    Undone,
    Verdict,
    ViolationKind,
)
from acidtest.oracles.crash import judge
from acidtest.report import words

LOG = "\n".join(["one", "two", "mysqld got signal 11 ;", "Thread pointer: 0x0", "stack_bottom"])


def history_of(sql: str, outcome: Outcome) -> History:
    """A history of one statement."""
    case = parse_case(f"-- setup\nCREATE TABLE t (a INT);\n-- schedule\n/* tx1 */ {sql};\n", "one")
    return History(
        origin=case,
        target="mariadb@10.11",
        version="10.11",
        levels={"tx1": Level.REPEATABLE_READ},
        schema=Schema(),
        initial={},
        events=(),
        records=(Record(0, "tx1", sql, outcome),),
        final={},
        dbms="mariadb",
    )


def failed(kind: ErrorKind) -> Failed:
    return Failed(kind, "1", "what the server said", Undone.NOTHING)


def observed(verdict: Verdict) -> str:
    assert verdict.violation is not None
    return words.observed(verdict.violation)


def details(verdict: Verdict) -> str:
    assert verdict.violation is not None
    return "\n".join(words.details(verdict.violation))


def test_a_statement_that_succeeds_is_clean() -> None:
    verdict = judge(history_of("DELETE FROM t", Affected(0)), LOG)
    assert verdict.judgement is Judgement.PASS


@pytest.mark.parametrize("kind", [ErrorKind.DEADLOCK, ErrorKind.DUPLICATE_KEY, ErrorKind.SYNTAX])
def test_an_ordinary_error_is_clean(kind: ErrorKind) -> None:
    assert judge(history_of("DELETE FROM t", failed(kind)), LOG).judgement is Judgement.PASS


@pytest.mark.parametrize("kind", [ErrorKind.INTERNAL, ErrorKind.CONNECTION_LOST])
def test_an_internal_error_and_a_lost_connection_are_crashes(kind: ErrorKind) -> None:
    verdict = judge(history_of("DELETE FROM t", failed(kind)), LOG)
    assert (verdict.judgement, verdict.kind, verdict.step) == (Judgement.VIOLATION, ViolationKind.CRASH, 0)
    assert kind.value in observed(verdict)
    assert "what the server said" in details(verdict)


def test_a_dead_server_is_a_crash_with_its_log_from_the_alarm_on() -> None:
    history = replace(history_of("DELETE FROM t", failed(ErrorKind.CONNECTION_LOST)), final=None)
    verdict = judge(history, LOG)
    assert verdict.judgement is Judgement.VIOLATION
    assert "the server died" in observed(verdict)
    assert "signal 11" in details(verdict)
    assert "stack_bottom" in details(verdict)
    assert "two" not in details(verdict)


@pytest.mark.parametrize("sql", ["KILL CONNECTION_ID()", "SET idle_in_transaction_session_timeout = 1"])
def test_a_case_that_asks_for_it_may_lose_its_connection(sql: str) -> None:
    history = history_of(sql, failed(ErrorKind.CONNECTION_LOST))
    assert judge(history, LOG).judgement is Judgement.PASS


def test_a_case_that_kills_does_not_excuse_a_server_that_dies() -> None:
    history = replace(history_of("KILL CONNECTION_ID()", failed(ErrorKind.CONNECTION_LOST)), final=None)
    assert judge(history, LOG).judgement is Judgement.VIOLATION


def test_a_commit_without_an_answer_is_a_crash_too() -> None:
    verdict = judge(history_of("COMMIT", Indeterminate("2013", "the server closed the connection")), LOG)
    assert verdict.is_violation
    history = history_of("KILL CONNECTION_ID()", Indeterminate("2013", "the server closed the connection"))
    assert not judge(history, LOG).is_violation


def test_a_final_state_that_cannot_be_read_is_no_death() -> None:
    history = replace(history_of("DELETE FROM t", Affected(0)), final=None, died=False)
    assert not judge(history, LOG).is_violation
    assert judge(replace(history, died=True), LOG).is_violation


def test_connections_that_are_cut_are_one_finding_whatever_was_asked() -> None:
    """TiDB 5.4 panics at UPDATE .. SET c = DEFAULT WHERE key = ..; how the client notices is an accident."""
    digests = set()
    for sql, text in (
        ("UPDATE t SET a = DEFAULT WHERE a = 1", "Broken pipe"),
        ("UPDATE t SET a = 1, a = DEFAULT WHERE a = 2", "Connection reset by peer"),
    ):
        history = history_of(sql, Failed(ErrorKind.CONNECTION_LOST, "2013", text, Undone.CONNECTION))
        digests.add(signature_of(history, judge(history, LOG)).digest)
    internal = history_of("UPDATE t SET a = 1", failed(ErrorKind.INTERNAL))
    assert len(digests) == 1
    assert signature_of(internal, judge(internal, LOG)).digest not in digests
