"""Options and markers that all tests share: which targets, and which servers must be there."""

import os
from functools import cache

import pytest

from acidtest import servers
from acidtest.servers import embedded
from acidtest.servers.sources.go import Go

PROVIDE = os.environ.get("ACIDTEST_PROVIDE", "")
"""With 1 a missing server of the small set is installed instead of skipped over (`make test`), with `all` any
(`make test-all`)."""

SMALL_SET = ("postgres", "postgres@18", "mariadb@10.11", "mysql@9.7", "mysql@5.6", "seekdb", "seekdb@1.4")
EMBEDDED = ("duckdb@1.4.3", "duckdb@2.0.0", "sqlite@3.45.3")
BUILT = ("tidb@5.4.2",)
"""Of the small set too where Go is on the machine; `make test` builds it beforehand, which takes minutes."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target",
        action="append",
        default=[],
        metavar="SPEC",
        help="run the conformance suite on these targets only (may be repeated)",
    )


def provide(spec: str) -> None:
    """Make sure that a server can be started, or skip the test and say how to get it."""
    if spec in EMBEDDED:
        provide_embedded(spec)
        return
    if servers.find_installed(spec) is not None:
        return
    if PROVIDE == "1" and spec in BUILT and (lack := Go().lacks()):
        pytest.skip(f"{spec} is built from source, but {lack}")
    if PROVIDE == "all" or (PROVIDE == "1" and spec in (*SMALL_SET, *BUILT)):
        if problem := _install_problem(spec):
            pytest.fail(problem)
        return
    pytest.skip(f"{spec} is not installed; acidtest server install {spec}")


def provide_embedded(spec: str) -> None:
    """The same for another release of a DBMS that runs inside a process: a wheel of some megabytes."""
    if any(one.spec == spec for one in embedded.installed()):
        return
    if not PROVIDE:
        pytest.skip(f"{spec} is not installed; acidtest server install {spec}")
    dbms, _, version = spec.partition("@")
    embedded.install(dbms, version)


@cache
def _install_problem(spec: str) -> str:
    """Why a server could not be installed, tried once for all tests; empty if it was."""
    try:
        servers.install(spec)
    except servers.InstallFailedError as error:
        return str(error)
    return ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture, so that those of a whole module find the server too."""
    for marker in item.iter_markers("live"):
        for spec in marker.args:
            provide(spec)
