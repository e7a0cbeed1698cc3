"""Campaigns on real servers: one that dies is a finding and no end, and real bugs are found and named."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.campaigns import Campaigns, descendants


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


@pytest.mark.live("mariadb@10.11")
def test_a_known_behaviour_is_found_reduced_and_called_by_its_name(campaigns: Campaigns) -> None:
    """The seed is one of those that meet it early; that any does is what long runs are for."""
    arguments = ("-l", "RC", "--profile", "simple", "--seed", "5", "--cases", "3000", "--out", "o")
    code, summary = campaigns.run("mariadb@10.11", *arguments)
    assert code == 1
    labels = {one["behaviour"]["name"] for one in summary["findings"] if one["behaviour"]}
    assert "semi-consistent read" in labels
    assert min(one["statements"] for one in summary["findings"]) <= 5
    assert all(one["known"] or one["behaviour"] for one in summary["findings"])


@pytest.mark.live("postgres")
def test_a_planted_fault_in_a_real_server_is_found(campaigns: Campaigns) -> None:
    arguments = ("-l", "RR", "--profile", "simple", "--seed", "1", "--cases", "300", "--out", "o")
    code, summary = campaigns.run("postgres?fault=weaker-level", *arguments)
    assert code == 1
    assert summary["findings"][0]["target"] == "postgres?fault=weaker-level"
    code, summary = campaigns.run("postgres", *arguments[:-1], "p")
    assert (code, summary["findings"]) == (0, [])
