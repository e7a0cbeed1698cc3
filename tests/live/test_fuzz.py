"""Campaigns on real servers: one that dies is a finding and no end, and real bugs are found and named."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaign.campaigns import Campaigns, descendants


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[Campaigns]:
    campaigns = Campaigns(tmp_path)
    yield campaigns
    campaigns.stop()


@pytest.mark.live("mariadb@10.11")
def test_a_server_that_dies_is_a_finding_and_the_campaign_goes_on(campaigns: Campaigns) -> None:
    arguments = ("-l", "SER", "--profile", "simple", "--seed", "1", "--cases", "4000", "--workers", "1")
    process = campaigns.start("mariadb@10.11", *arguments, "--out", "o")
    campaigns.wait_until_under_way(process, "o")
    servers = [number for number, command in descendants(process.pid) if "mariadbd" in command]
    assert servers
    for number in servers:
        os.kill(number, signal.SIGKILL)
    code, summary = campaigns.finish(process)
    assert (code, summary["cases"], summary["crashes"]) == (1, 4000, 1)
    crash = next(one for one in summary["findings"] if one["kind"] == "crash")
    assert crash["flaky"] == {"shown": 0, "runs": 10}, "nothing of the case killed it"


PUBLISHED = {
    "RC": {"MDEV-26643", "MDEV-27992"},
    "RR": {"MDEV-26642", "MDEV-32898"},
}
"""Bugs of the papers that MariaDB 10.11 has, by the level at which they show."""


@pytest.mark.live("mariadb@10.11")
@pytest.mark.parametrize("level", PUBLISHED)
def test_published_bugs_are_among_the_findings(campaigns: Campaigns, level: str) -> None:
    """The seed is one that meets them early; long runs show that every seed does. Whatever else is found is
    welcome."""
    arguments = ("-l", level, "--profile", "simple", "--seed", "6", "--cases", "3000", "--out", "o")
    code, summary = campaigns.run("mariadb@10.11", *arguments)
    assert code == 1
    published = [
        one
        for one in summary["findings"]
        if PUBLISHED[level] & {known["id"] for known in one["explained_by"]}
    ]
    assert published, [one["signature"] for one in summary["findings"]]
    assert min(one["statements"] for one in published) <= 6, "reduced to about what was published"


@pytest.mark.live("postgres")
def test_a_planted_fault_in_a_real_server_is_found(campaigns: Campaigns) -> None:
    arguments = ("-l", "RR", "--profile", "simple", "--seed", "1", "--cases", "300", "--out", "o")
    code, summary = campaigns.run("postgres?fault=weaker-level", *arguments)
    assert code == 1
    assert summary["findings"][0]["target"] == "postgres?fault=weaker-level"
    code, summary = campaigns.run("postgres", *arguments[:-1], "p")
    assert (code, summary["findings"]) == (0, [])
