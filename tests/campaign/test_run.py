"""Whole campaigns on the simulated DBMS, workers and all: what they find, and what they survive."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acidtest.campaign.store import FILE
from acidtest.report.folder import read_findings
from tests.campaign.campaigns import Campaigns, workers_of

FAULT = "simulated@dirty-read"


def test_a_planted_fault_is_found_reduced_and_stored(tmp_path: Path, campaigns: Campaigns) -> None:
    arguments = (
        "-l",
        "RC",
        "--profile",
        "simple",
        "--seed",
        "3",
        "--cases",
        "150",
        "--workers",
        "1",
        "--out",
        "o",
    )
    code, summary = campaigns.run(FAULT, *arguments)
    assert code == summary["exit_code"] == 1
    assert summary["cases"] == 150
    assert summary["stopped"] == "cases"
    first = summary["findings"][0]
    assert re.search(r"not committed.* at plain read after \w+ still open", first["signature"])
    assert first["statements"] <= 5
    stored = read_findings(tmp_path / "o" / "findings")
    assert [finding.digest for _, finding in stored] == [one["digest"] for one in summary["findings"]]
    replay = subprocess.run(
        [sys.executable, "-m", *first["replay"].split()], cwd=tmp_path, capture_output=True, check=False
    )
    assert replay.returncode == 1, replay.stderr


def test_what_was_found_before_does_not_count_with_a_baseline(campaigns: Campaigns) -> None:
    arguments = ("-l", "RC", "--profile", "simple", "--seed", "3", "--cases", "60", "--workers", "1")
    code, before = campaigns.run(FAULT, *arguments, "--out", "before")
    assert (code, before["new"] > 0) == (1, True)
    code, after = campaigns.run(FAULT, *arguments, "--out", "after", "--baseline", "before")
    assert (code, after["causes"]) == (0, before["causes"])
    assert all(one["in_baseline"] for one in after["findings"])


def test_where_nothing_is_wrong_nothing_is_found(campaigns: Campaigns) -> None:
    code, summary = campaigns.run(
        "simulated", "--profile", "simple", "--seed", "4", "--cases", "400", "--out", "o"
    )
    assert (code, summary["findings"], summary["violations"]) == (0, [], 0)
    assert summary["judged"] == summary["cases"] == 400


def test_the_seed_makes_the_run_whoever_does_the_work(campaigns: Campaigns) -> None:
    def counts(workers: str) -> dict[str, Any]:
        arguments = (FAULT, "-l", "RC", "-l", "RR", "--seed", "9", "--cases", "500", "--workers", workers)
        _, summary = campaigns.run(*arguments, "--out", f"o{workers}")
        return {name: summary[name] for name in ("cases", "judged", "statements", "blocked", "violations")}

    assert counts("1") == counts("2")


def test_a_killed_campaign_goes_on_without_loss_or_repetition(campaigns: Campaigns) -> None:
    arguments = (FAULT, "-l", "RC", "--seed", "5", "--cases", "600", "--workers", "2")
    _, whole = campaigns.run(*arguments, "--out", "whole")
    process = campaigns.start(*arguments, "--out", "o")
    for wanted in (30, 200):
        campaigns.wait_until_under_way(process, "o", wanted)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        process = campaigns.start("--resume", "o", "--workers", "2")
    code, summary = campaigns.finish(process)
    assert code == 1
    same = ("cases", "judged", "statements", "blocked", "deadlocks", "violations", "undecided")
    assert {name: summary[name] for name in same} == {name: whole[name] for name in same}
    seen = summary["duplicates"] + summary["unreduced"] + len(summary["findings"])
    assert seen == summary["violations"] == whole["violations"]


def test_ctrl_c_ends_with_the_summary_and_can_go_on(campaigns: Campaigns) -> None:
    process = campaigns.start(
        "simulated", "--profile", "simple", "--seed", "5", "--workers", "1", "--out", "o"
    )
    campaigns.wait_until_under_way(process, "o")
    os.killpg(process.pid, signal.SIGINT)
    code, summary = campaigns.finish(process)
    assert (code, summary["stopped"]) == (0, "interrupted")
    assert summary["cases"] == campaigns.advanced("o") > 0
    more = summary["cases"] + 100
    code, summary = campaigns.run("--resume", "o", "--cases", str(more))
    assert (code, summary["stopped"], summary["cases"]) == (0, "cases", more)


def test_a_worker_that_dies_is_replaced(campaigns: Campaigns) -> None:
    arguments = ("--seed", "6", "--cases", "3000", "--workers", "1", "--out", "o")
    process = campaigns.start("simulated", "--profile", "simple", *arguments)
    campaigns.wait_until_under_way(process, "o")
    workers = workers_of(process)
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    code, summary = campaigns.finish(process)
    assert (code, summary["cases"], summary["replaced_workers"]) == (0, 3000, 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name a target to fuzz"),
        (("oracle",), "unknown target 'oracle'"),
        (("sqlite", "-l", "RC"), "sqlite has no isolation level READ COMMITTED"),
        (("sqlite", "-l", "chaos"), "unknown isolation level 'chaos'"),
        (("sqlite", "--oracle", "psychic"), "unknown oracle 'psychic'"),
        (("sqlite", "--profile", "baroque"), "unknown profile 'baroque'"),
        (("sqlite", "--for", "soon"), "is no duration"),
        (("sqlite", "--for", "9" * 400), "longer than 3650 days"),
        (("simulated@nonsense",), "nonsense"),
        (("sqlite:///",), "names no file"),
        (("sqlite:///nonexistent/dir/x.db",), "there is no folder /nonexistent/dir"),
        (("sqlite:///tmp/acidtest-x.db", "--workers", "2"), "can be had by one process only"),
        (("mysql://u:secret@[::1/",), "the host of the address mysql://... is malformed"),
        (("sqlite", "--without", "magic"), "'magic' is no part of the conflict construction"),
        (("sqlite", "--cases", "0"), "0 is not in the range"),
        (("sqlite", "--workers", "0"), "0 is not in the range"),
        (("sqlite", "--transactions", "1"), "1 is not in the range"),
        (("--resume", "nowhere"), "nowhere is no campaign"),
        (("--resume", "nowhere", "--seed", "0"), "--seed cannot be changed"),
        (("sqlite", "--out", "taken"), "taken exists already"),
    ],
)
def test_bad_input_gets_one_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, campaigns: Campaigns
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("")
    process = campaigns.start(*arguments)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 2
    assert sentence in err
    assert "Traceback" not in out + err
    assert "secret" not in out + err
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]


def test_a_server_that_is_not_there_is_told_before_anything_is_made(
    tmp_path: Path, campaigns: Campaigns
) -> None:
    process = campaigns.start("mysql://root:secret@127.0.0.1:1/", "--cases", "10", "--out", "o")
    out, err = process.communicate(timeout=100)
    assert process.returncode == 2, err
    assert "127.0.0.1:1" in err
    assert "secret" not in out + err
    assert not (tmp_path / "o").exists()


def test_a_campaign_without_an_oracle_is_refused(tmp_path: Path, campaigns: Campaigns) -> None:
    process = campaigns.start("sqlite", "--oracle", "none", "--cases", "5", "--out", "o")
    _, err = process.communicate(timeout=100)
    assert process.returncode == 2
    assert "without an oracle" in err
    assert not (tmp_path / "o").exists()


def test_cases_in_which_no_oracle_has_a_say_are_not_judged(campaigns: Campaigns) -> None:
    arguments = ("-l", "RC", "--oracle", "serial", "--profile", "simple", "--cases", "20", "--out", "o")
    _, summary = campaigns.run("simulated", *arguments)
    assert summary["judged"] == 0
    assert sum(summary["undecided"].values()) == 20


def test_mixed_levels_are_told_by_their_short_names(campaigns: Campaigns) -> None:
    arguments = ("--mixed-levels", "--profile", "simple", "--cases", "5", "--workers", "1", "--out=-dash")
    _, summary = campaigns.run("simulated", *arguments)
    assert summary["levels"] == ["RU", "RC", "RR", "SER"]


@pytest.mark.parametrize("damage", ["no findings folder", "position", "table"])
def test_a_damaged_directory_is_refused_with_one_sentence(
    damage: str, tmp_path: Path, campaigns: Campaigns
) -> None:
    campaigns.run("simulated", "--profile", "simple", "--cases", "5", "--workers", "1", "--out", "o")
    if damage == "no findings folder":
        (tmp_path / "o" / "findings").rmdir()
    else:
        change = "UPDATE chunks SET position = 999" if damage == "position" else "DROP TABLE versions"
        with closing(sqlite3.connect(tmp_path / "o" / FILE)) as database, database:
            database.execute(change)
    process = campaigns.start("--resume", "o")
    out, err = process.communicate(timeout=100)
    assert process.returncode == 2
    assert "is damaged or no campaign of acidtest" in err
    assert "Traceback" not in out + err
