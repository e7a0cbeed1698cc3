"""States and results that are the same but for values that nobody chose."""

from datetime import datetime

import pytest

from acidtest.app.matching import Matcher, volatile_paths
from acidtest.model import Column, ForeignKey, Index, Schema, State, Table

SCHEMA = Schema(
    (
        Table(
            "line",
            (Column("id", "integer", False, auto_increment=True), Column("orders_id", "integer", False)),
            (),
            (ForeignKey("k", ("orders_id",), "orders", ("id",)),),
        ),
        Table(
            "orders",
            (
                Column("id", "integer", False, auto_increment=True),
                Column("who", "text", False),
                Column("token", "text", True),
            ),
            (Index("p", ("id",), unique=True, primary=True),),
        ),
    )
)
INITIAL: State = {"line": (), "orders": ((1, "old", "x"),)}


@pytest.fixture
def matcher() -> Matcher:
    return Matcher(SCHEMA, INITIAL)


def test_generated_keys_correspond(matcher: Matcher) -> None:
    one: State = {"line": ((1, 2),), "orders": ((1, "old", "x"), (2, "bob", "t"), (3, "eve", "t"))}
    other: State = {"line": ((9, 8),), "orders": ((1, "old", "x"), (7, "eve", "t"), (8, "bob", "t"))}
    assert matcher.same_state(one, other)


def test_a_line_of_another_order_is_a_difference(matcher: Matcher) -> None:
    one: State = {"line": ((1, 2),), "orders": ((1, "old", "x"), (2, "bob", "t"), (3, "eve", "t"))}
    other: State = {"line": ((9, 7),), "orders": ((1, "old", "x"), (7, "eve", "t"), (8, "bob", "t"))}
    assert not matcher.same_state(one, other)


def test_keys_of_before_are_compared_by_value(matcher: Matcher) -> None:
    one: State = {"line": ((1, 1),), "orders": ((1, "old", "x"), (2, "old", "x"))}
    other: State = {"line": ((1, 2),), "orders": ((1, "old", "x"), (2, "old", "x"))}
    assert not matcher.same_state(one, other)


def test_tokens_are_learned_from_two_runs_of_one_order(matcher: Matcher) -> None:
    one: State = {"line": (), "orders": ((1, "old", "x"), (2, "bob", "abc"))}
    other: State = {"line": (), "orders": ((1, "old", "x"), (2, "bob", "def"))}
    assert not matcher.same_state(one, other)
    matcher.add_volatile(one, other)
    assert matcher.same_state(one, other)


def test_times_of_a_run_are_not_compared(matcher: Matcher) -> None:
    schema = Schema((Table("t", (Column("id", "integer", False), Column("at", "timestamp", False)), ()),))
    before: State = {"t": ((1, datetime(2020, 1, 1)),)}
    matcher = Matcher(schema, before)
    assert matcher.same_state({"t": ((1, datetime(2021, 1, 1)),)}, {"t": ((1, datetime(2022, 1, 1)),)})
    assert not matcher.same_state({"t": ((1, datetime(2020, 1, 1)),)}, {"t": ((1, datetime(2022, 1, 1)),)})


def test_different_rows_are_named(matcher: Matcher) -> None:
    one: State = {"line": (), "orders": ((1, "old", "x"), (2, "bob", "t"))}
    assert matcher.different_rows(one, INITIAL) == {"orders": ([(2, "bob", "t")], [])}


def test_results_correspond_by_what_hangs_on_a_key(matcher: Matcher) -> None:
    one: State = {"line": (), "orders": ((2, "bob", "t"), (3, "eve", "t"))}
    other: State = {"line": (), "orders": ((8, "bob", "t"), (7, "eve", "t"))}
    assert matcher.same_result({"id": 2}, one, {"id": 8}, other, frozenset())
    assert not matcher.same_result({"id": 2}, one, {"id": 7}, other, frozenset())
    assert not matcher.same_result({"left": 0}, one, {"left": 1}, other, frozenset())


def test_times_and_volatile_places_are_not_compared(matcher: Matcher) -> None:
    assert matcher.same_result(datetime(2020, 1, 1), INITIAL, datetime(2021, 1, 1), INITIAL, frozenset())
    volatile = volatile_paths({"a": [1, "x"]}, {"a": [1, "y"]})
    assert volatile == {("a", "1")}
    assert matcher.same_result({"a": [1, "p"]}, INITIAL, {"a": [1, "q"]}, INITIAL, volatile)
