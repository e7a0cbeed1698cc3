"""Bad input is told in one sentence."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from acidtest.app import explore
from acidtest.app.errors import code_of
from acidtest.app.interleave import Interleave
from acidtest.app.operation import operations_of
from acidtest.app.options import read_options
from acidtest.app.replay import order_of, replay_id
from acidtest.app.values import comparable
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.model.application import Segment


def nothing() -> None:
    """An operation."""


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ((), "nothing to interleave"),
        ((nothing,) * 5, "too many"),
        ((3,), "not 3"),
    ],
)
def test_operations_that_cannot_be(calls: tuple[Any, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        operations_of(calls)


def test_one_operation_runs_against_itself() -> None:
    assert [(one.name, one.title) for one in operations_of([nothing])] == [("A", "nothing"), ("B", "nothing")]


def test_a_lambda_is_called_by_what_it_calls() -> None:
    call: Callable[[], Any] = lambda: nothing()  # noqa: E731, PLW0108
    assert operations_of([call])[0].title == "nothing"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"second": 3}, "no option 'second'"),
        ({"seconds": 0}, "leaves no room"),
        ({"at_end": 3}, "an invariant is a query or a function, not 3"),
        ({"levels": ["RX"]}, "unknown isolation level"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_options(options)


def test_options_are_read() -> None:
    options = read_options({"levels": "RR", "always": "SELECT true", "hang_s": 2})
    assert options.levels == (Level.REPEATABLE_READ,)
    assert options.always == ("SELECT true",)
    assert options.limits.hang_s == 2


def test_replay_ids_read_back() -> None:
    order = (Segment("A", 3), Segment("B"), Segment("A"))
    assert replay_id(order) == "A3-B-A"
    assert order_of("A3-B-A", ("A", "B")) == order


@pytest.mark.parametrize(("text", "said"), [("nonsense", "no replay id"), ("A1-C-A", "names operation C")])
def test_replay_ids_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        order_of(text, ("A", "B"))


def test_sqlite_is_refused() -> None:
    with pytest.raises(UsageError, match="opens an SQLite database"):
        explore(lambda: import_module("sqlite3").connect(":memory:"))


def test_the_drivers_are_as_before_afterwards() -> None:
    before = import_module("sqlite3").connect
    with pytest.raises(UsageError):
        explore(lambda: import_module("sqlite3").connect(":memory:"))
    assert import_module("sqlite3").connect is before


def test_codes_are_found_behind_wrappers() -> None:
    class DriverError(Exception):
        sqlstate = "40001"

    wrapper = RuntimeError("wrapped")
    wrapper.__cause__ = DriverError()
    assert code_of(wrapper) == "40001"
    assert code_of(ValueError("no code")) is None


def test_numbers_come_before_states() -> None:
    error = import_module("pymysql").err.OperationalError(1213, "Deadlock found")
    error.sqlstate = "40001"
    assert code_of(error) == "1213"


def test_results_become_plain_data() -> None:
    assert comparable({"a": (1, {2})}) == {"a": [1, [2]]}
    assert comparable(object()) == "<object>"


def test_the_fixture_replays_what_the_command_line_says() -> None:
    given = Interleave({"seconds": 5}, "A1-B-A", None)
    assert given._merged({"runs": 3}) == {"seconds": 5, "runs": 3, "replay": "A1-B-A"}
