"""Every bug shows where its file says that it was seen, and nowhere else, on each installed server."""

import sqlite3
from collections import defaultdict

import pytest

from acidtest import corpus, servers
from acidtest.bugs.cells import Found, observe
from acidtest.execute import Executor
from acidtest.model import Case, Level
from acidtest.servers import embedded
from acidtest.targets.resolve import open_target
from tests.conftest import PROVIDE

CLAIMED: dict[str, dict[str, tuple[Case, tuple[Level, ...]]]] = defaultdict(dict)
for case in corpus.bugs():
    for sighting in case.bug.seen if case.bug is not None else ():
        CLAIMED[sighting.target][case.id] = case, sighting.levels

SMALL_SET = (
    "mariadb@10.11",
    "mysql@9.7",
    "mysql@5.6",
    "postgres@18.4",
    "tidb@5.4.2",
    "duckdb@1.4.3",
    "duckdb@2.0.0",
    "sqlite@3",
)
"""What `make test` looks at; `make test-all` looks at every server that is installed."""


def installed(target: str) -> str:
    """How to open a target, or skip the test."""
    plain = target.partition("?")[0]
    if PROVIDE != "all" and not plain.startswith(SMALL_SET):
        pytest.skip(f"{plain} is for make test-all")
    if plain == f"sqlite@{sqlite3.sqlite_version}":
        return "sqlite"  # the one that comes with Python
    if plain.partition("@")[0] in embedded.WHEELS:
        there = any(one.spec == plain for one in embedded.installed())
    else:
        there = servers.find_installed(plain) is not None
    if not there:
        pytest.skip(f"{plain} is not installed; acidtest server install {plain}")
    return target


@pytest.mark.parametrize("target", sorted(CLAIMED))
def test_bugs_show_at_the_levels_that_their_files_name(target: str) -> None:
    spec = installed(target)
    told = {name: {level.short for level in levels} for name, (_, levels) in CLAIMED[target].items()}
    seen: dict[str, set[str]] = {name: set() for name in told}
    with open_target(spec) as opened, Executor(opened) as executor:
        for name, (case, _) in sorted(CLAIMED[target].items(), key=lambda one: one[1][0].server):
            for level in opened.levels:
                if observe(executor, case, level).found is Found.SHOWS:
                    seen[name].add(level.short)
    assert seen == told
