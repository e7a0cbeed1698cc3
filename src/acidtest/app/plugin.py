"""The pytest plugin: fixture `interleave`, marker `interleave`, and `--acidtest-replay`.

It is loaded by every pytest on a machine that has acidtest, so the rest of acidtest is imported when it is
used.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("acidtest", "interleavings of an application's transactions")
    group.addoption(
        "--acidtest-replay",
        metavar="ID",
        default=None,
        help="force just the order with this id, as a failed test printed it",
    )
    group.addoption(
        "--acidtest-findings",
        metavar="FOLDER",
        default=None,
        help="store what goes wrong in this folder, as `acidtest findings` reads it",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "interleave(**options): options for all interleave() calls of a test, such as seconds=5"
    )


@pytest.fixture
def interleave(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Explore interleavings: `interleave(lambda: place_order(alice), lambda: place_order(bob))`."""
    marked: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("interleave"))):
        marked |= marker.kwargs
    options = request.config.getoption
    make = import_module("acidtest.app.interleave").Interleave
    one = make(marked, options("--acidtest-replay"), options("--acidtest-findings"))
    yield one
    if one.last is not None:
        request.node.user_properties.append(("acidtest", one.last.judgement.value))
