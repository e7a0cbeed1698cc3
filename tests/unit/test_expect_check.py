"""Expectations against what happened."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal

import pytest

from acidtest.casefile import Unmet, check, format_record, parse_case
from acidtest.casefile.check import format_outcome, matches
from acidtest.model import (
    Affected,
    Blocked,
    ErrorKind,
    Failed,
    History,
    Indeterminate,
    Level,
    Omitted,
    Outcome,
    Overran,
    Record,
    Row,
    Rows,
    Schema,
    Undone,
    Value,
    Warning,
    freeze_state,
)

DEADLOCK = Failed(ErrorKind.DEADLOCK, "1213", "Deadlock found", Undone.TRANSACTION)


def history(
    text: str,
    *records: Record,
    levels: Mapping[str, Level] | None = None,
    final: Mapping[str, tuple[Row, ...]] | None = None,
) -> History:
    """A history of the case in the text, with these records."""
    case = parse_case(text, "x")
    return History(
        origin=case,
        target="none",
        version="0",
        levels=levels or {tx.name: Level.REPEATABLE_READ for tx in case.transactions},
        schema=Schema(),
        initial=freeze_state({}),
        events=(),
        records=records,
        final=None if final is None else freeze_state(final),
    )


def record(outcome: Outcome, waited: bool = False, by: tuple[str, ...] = ()) -> Record:
    return Record(0, "a", "SELECT 1", outcome, waited=waited, blocked_by=by)


@pytest.mark.parametrize(
    ("expected", "observed", "holds"),
    [
        ("(1) (2)", record(Rows(("a",), ((2,), (1,)))), True),
        ("(1) (2)", record(Rows(("a",), ((1,), (1,), (2,)))), False),
        ("(1) (2)", record(Affected(2)), False),
        ("ordered (1) (2)", record(Rows(("a",), ((1,), (2,)))), True),
        ("ordered (1) (2)", record(Rows(("a",), ((2,), (1,)))), False),
        ("no rows", record(Rows(("a",), ())), True),
        ("no rows", record(Affected(0)), False),
        ("affected 1", record(Affected(1)), True),
        ("affected 1", record(Affected(0, matched=1)), False),
        ("ok", record(Affected(0)), True),
        ("ok", record(Rows((), ())), True),
        ("ok", record(DEADLOCK), False),
        ("error", record(DEADLOCK), True),
        ("error", record(Affected(0)), False),
        ("error deadlock", record(DEADLOCK), True),
        ("error lock-timeout", record(DEADLOCK), False),
        ("error 1213", record(DEADLOCK), True),
        ("error 1205", record(DEADLOCK), False),
        ("error deadlock 1205", record(DEADLOCK), False),
        ("blocked", record(Affected(1), waited=True), True),
        ("blocked", record(Blocked()), True),
        ("blocked", record(Affected(1)), False),
        ("blocked by b", record(Affected(1), waited=True, by=("b",)), True),
        ("blocked by b", record(Blocked(("b",))), True),
        ("blocked by a", record(Affected(1), waited=True, by=("b",)), False),
        ("blocked by b", record(Affected(1), waited=True), True),
        ("blocked by b", record(Affected(1)), False),
        ("not blocked", record(Affected(1)), True),
        ("not blocked", record(Affected(1), waited=True), False),
        ("not blocked", record(Blocked()), False),
        ("blocked; affected 1", record(Affected(1), waited=True), True),
        ("blocked; affected 2", record(Affected(1), waited=True), False),
        ("error or affected 1", record(Affected(1)), True),
        ("error or affected 1", record(Affected(2)), False),
        ("ok or error", record(Omitted("tx1 was undone")), False),
        ("ok or error", record(Overran(5)), False),
    ],
)
def test_conditions(expected: str, observed: Record, holds: bool) -> None:
    text = f"-- schedule\n/* a */ SELECT 1; -- expect: {expected}\n/* b */ SELECT 2;\n"
    unmet = check(history(text, observed))
    assert unmet == (() if holds else (Unmet(0, None, expected, format_record(observed)),))


@pytest.mark.parametrize(
    ("observed", "words"),
    [
        (record(Rows(("a", "b"), ((1, "x"), (None, "it's")))), "(1,'x') (NULL,'it''s')"),
        (record(Rows(("a",), ())), "no rows"),
        (record(DEADLOCK, waited=True, by=("b", "c")), "blocked by b, c; error deadlock 1213"),
        (record(Affected(3), waited=True), "blocked; affected 3"),
        (record(Blocked(("b",)), waited=True, by=("b",)), "blocked by b"),
        (record(Blocked()), "blocked"),
        (record(Omitted("its transaction was undone")), "not run: its transaction was undone"),
        (record(Overran(2.5)), "no answer within 2.5 s"),
    ],
)
def test_words_for_what_happened(observed: Record, words: str) -> None:
    assert format_record(observed) == words


def test_an_expectation_for_the_level_replaces_the_general_one() -> None:
    text = "-- schedule\n/* a */ SELECT 1;\n-- expect: (1)\n-- expect RC, RU: (2)\n"
    one, two = record(Rows(("a",), ((1,),))), record(Rows(("a",), ((2,),)))
    assert check(history(text, one, levels={"a": Level.SERIALIZABLE})) == ()
    assert check(history(text, two, levels={"a": Level.READ_COMMITTED})) == ()
    assert check(history(text, two, levels={"a": Level.SERIALIZABLE})) == (Unmet(0, None, "(1)", "(2)"),)
    assert check(history(text, one, levels={"a": Level.READ_COMMITTED})) == (Unmet(0, None, "(2)", "(1)"),)


def test_the_level_is_that_of_the_statements_session() -> None:
    text = "-- schedule\n/* a */ SELECT 1; -- expect RC: error\n/* b */ SELECT 2;\n"
    ok = record(Affected(0))
    assert check(history(text, ok, levels={"a": Level.SERIALIZABLE, "b": Level.READ_COMMITTED})) == ()
    assert len(check(history(text, ok, levels={"a": Level.READ_COMMITTED, "b": Level.SERIALIZABLE}))) == 1


def test_several_general_expectations_must_all_hold() -> None:
    text = "-- schedule\n/* a */ SELECT 1;\n-- expect: ok\n-- expect: not blocked\n"
    assert check(history(text, record(Affected(0), waited=True))) == (
        Unmet(0, None, "not blocked", "blocked; affected 0"),
    )


def test_a_step_without_record_was_not_run() -> None:
    text = "-- schedule\n/* a */ SELECT 1; -- expect: ok\n"
    assert check(history(text)) == (Unmet(0, None, "ok", "it was not run"),)


FINAL = "-- schedule\n/* a */ SELECT 1;\n/* b */ SELECT 1;\n-- final\n-- expect t: (1) (2) or no rows\n"


@pytest.mark.parametrize(
    ("final", "observed"),
    [
        ({"t": ((2,), (1,))}, None),
        ({"T": ()}, None),
        ({"t": ((1,),)}, "(1)"),
        ({"u": ()}, "no such table"),
        (None, "the server died"),
    ],
)
def test_final_state(final: dict[str, tuple[Row, ...]] | None, observed: str | None) -> None:
    unmet = check(history(FINAL, final=final))
    assert unmet == (() if observed is None else (Unmet(None, "t", "(1) (2) or no rows", observed),))


def test_final_state_at_a_level_needs_all_sessions_there() -> None:
    text = FINAL + "-- expect t at RC: (9)\n"
    rc, ser = Level.READ_COMMITTED, Level.SERIALIZABLE
    assert check(history(text, levels={"a": rc, "b": rc}, final={"t": ((9,),)})) == ()
    assert check(history(text, levels={"a": rc, "b": ser}, final={"t": ()})) == ()
    assert len(check(history(text, levels={"a": rc, "b": ser}, final={"t": ((9,),)}))) == 1


@pytest.mark.parametrize(
    ("observed", "literal", "same"),
    [
        (1, 1, True),
        (Decimal("10.00"), 10, True),
        (1.0, 1, True),
        (0.1, Decimal("0.1"), True),
        (Decimal("0.1"), Decimal("0.10"), True),
        (Decimal("0.1"), 0.1, False),
        ("1", 1, False),
        ("a", "a", True),
        ("a", "A", False),
        (b"a", "a", False),
        ("a", b"a", False),
        (True, True, True),
        (1, True, True),
        (0, False, True),
        (2, True, False),
        (True, 1, False),
        (Decimal(1), True, False),
        (1.0, True, False),
        ("1", True, False),
        (None, None, True),
        (None, 0, False),
        (None, "", False),
        (float("nan"), float("nan"), True),
        (Decimal("NaN"), float("nan"), True),
        (date(2020, 1, 2), date(2020, 1, 2), True),
        ("2020-01-02", date(2020, 1, 2), False),
        (timedelta(hours=3, microseconds=5), time(3, 0, 0, 5), True),
        (timedelta(hours=4), time(3), False),
        (time(3), time(3), True),
    ],
)
def test_values(observed: Value, literal: Value, same: bool) -> None:
    assert matches([(observed,)], [(literal,)]) is same
    assert matches([(observed,)], [(literal,)], ordered=True) is same


def test_rows_of_another_width_do_not_match() -> None:
    assert not matches([(1, 2)], [(1,)])
    assert not matches([(1,)], [(1, 2)])
    assert not matches([], [(1,)])
    assert matches([], [])


def test_an_indeterminate_commit_is_a_lost_connection_to_an_expectation() -> None:
    lost = Indeterminate("2013", "the server closed the connection")
    assert format_outcome(lost) == "indeterminate, the connection was lost 2013"


WARNED = Record(0, "a", "SELECT 1", Affected(1), warnings=(Warning("Warning", "1292", "Truncated 'x'"),))


@pytest.mark.parametrize(
    ("expected", "observed", "holds"),
    [
        ("ends", record(Affected(0)), True),
        ("ends", record(DEADLOCK), True),
        ("ends", record(Overran(30)), False),
        ("ends", record(Blocked(()), waited=True), False),
        ("warning", WARNED, True),
        ("warning 1292", WARNED, True),
        ("warning 1366", WARNED, False),
        ("no warning", WARNED, False),
        ("no warning 1366", WARNED, True),
        ("no warning", record(Affected(0)), True),
        ("like 'Truncated .x.'", WARNED, True),
        ("unlike 'Truncated'", WARNED, False),
        ("like '^.2,.b.'", record(Rows(("a", "b"), ((1, "a"), (2, "b")))), True),
        ("like '^c'", record(Rows(("a", "b"), ((1, "a"), (2, "b")))), False),
        ("like 'Deadlock.*1213'", record(DEADLOCK), True),
        ("resumed by b", replace(record(Affected(1), waited=True), resumed_by=1), True),
        ("resumed by a", replace(record(Affected(1), waited=True), resumed_by=1), False),
        ("resumed by b", record(Affected(1)), False),
        ("resumed by b", record(Blocked(("b",)), waited=True), False),
    ],
)
def test_conditions_on_ends_warnings_patterns_and_releases(
    expected: str, observed: Record, holds: bool
) -> None:
    text = f"-- schedule\n/* a */ SELECT 1;\n-- expect: {expected}\n/* b */ SELECT 2;\n"
    assert (check(history(text, observed, final={})) == ()) is holds
