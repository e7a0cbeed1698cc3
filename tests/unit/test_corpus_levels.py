"""What a run of an anomaly's case is taken for."""

from dataclasses import replace

import pytest

from acidtest.casefile import parse_case
from acidtest.corpus.levels import PREVENTING, Observed, classify
from acidtest.model import (
    Affected,
    Blocked,
    Case,
    ErrorKind,
    Failed,
    History,
    Level,
    Outcome,
    Overran,
    Record,
    Rows,
    Schema,
    Undone,
    freeze_state,
)

CASE = """-- id: x
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT value FROM t;  -- expect: (10)
/* tx2 */ UPDATE t SET value = 11;
/* tx1 */ SELECT value FROM t;  -- expect: (10)
-- final
-- expect t: (11)
"""

OLD, NEW = Rows(("value",), ((10,),)), Rows(("value",), ((11,),))


def error(kind: ErrorKind) -> Failed:
    return Failed(kind, "1", "", Undone.TRANSACTION)


def history(*outcomes: Outcome, final: int = 11, waited: int | None = None) -> History:
    case: Case = parse_case(CASE, "x.sql")
    records = tuple(
        Record(step.index, step.session, step.sql, outcome, waited=step.index == waited)
        for step, outcome in zip(case.steps, (Affected(0), *outcomes), strict=True)
    )
    levels = {transaction.name: Level.READ_COMMITTED for transaction in case.transactions}
    state = freeze_state({"t": ((final,),)})
    return History(case, "a", "1", levels, Schema(), state, (), records, state)


def test_an_unmet_read_is_the_anomaly() -> None:
    assert classify(history(OLD, Affected(1), NEW)) is Observed.OCCURS


def test_an_unmet_final_state_is_the_anomaly() -> None:
    assert classify(history(OLD, Affected(1), OLD, final=12)) is Observed.OCCURS


def test_waiting_does_not_hide_the_anomaly() -> None:
    assert classify(history(OLD, Affected(1), NEW, waited=2)) is Observed.OCCURS


def test_expectations_met_after_a_wait() -> None:
    assert classify(history(OLD, Affected(1), OLD, waited=2)) is Observed.WAITING


def test_expectations_met_without_wait_or_error() -> None:
    assert classify(history(OLD, Affected(1), OLD)) is Observed.SNAPSHOT


@pytest.mark.parametrize("kind", sorted(PREVENTING))
def test_an_error_that_asks_for_another_try_prevents(kind: ErrorKind) -> None:
    assert classify(history(OLD, error(kind), OLD, final=10)) is Observed.ERROR


def test_what_a_broken_off_transaction_does_next_is_a_consequence() -> None:
    refused = error(ErrorKind.TRANSACTION_STATE)
    assert classify(history(error(ErrorKind.SERIALIZATION_FAILURE), Affected(1), refused)) is Observed.ERROR


@pytest.mark.parametrize("kind", [ErrorKind.SYNTAX, ErrorKind.UNSUPPORTED, ErrorKind.TRANSACTION_STATE])
def test_any_other_error_says_nothing_of_the_anomaly(kind: ErrorKind) -> None:
    assert classify(history(OLD, error(kind), OLD, final=10)) is Observed.UNKNOWN


@pytest.mark.parametrize("outcome", [Overran(30.0), Blocked(("tx1",))])
def test_a_statement_without_an_answer_says_nothing(outcome: Outcome) -> None:
    assert classify(history(OLD, outcome, OLD)) is Observed.UNKNOWN


def test_a_dead_server_says_nothing() -> None:
    assert classify(replace(history(OLD, Affected(1), OLD), final=None)) is Observed.UNKNOWN


def test_prevented_is_what_surely_did_not_occur() -> None:
    assert {one for one in Observed if one.prevented} == {
        Observed.WAITING,
        Observed.ERROR,
        Observed.SNAPSHOT,
    }
