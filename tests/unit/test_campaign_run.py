"""Whole campaigns on the simulated DBMS, workers and all: what they find, and what they survive."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acidtest.campaign.store import FILE
from acidtest.findings.folder import read_findings

FAULT = "simulated@dirty-read"


def fuzz(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "acidtest", "fuzz", *arguments, "--no-elsewhere", "--json"]
    return subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    out, err = process.communicate(timeout=200)
    assert out, err
    return process.returncode, json.loads(out)


def advanced(folder: Path) -> int:
    """How many cases the store of a running campaign knows of."""
    if not (folder / FILE).exists():
        return 0
    try:
        with sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT coalesce(sum(position), 0) FROM chunks").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # it is just being made
    finally:
        if "database" in locals():
            database.close()


def wait_until_under_way(process: subprocess.Popen[str], folder: Path, cases: int = 1) -> None:
    until = time.monotonic() + 120
    while advanced(folder) < cases:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        os.sched_yield()


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Campaigns that must not outlive a test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_planted_fault_is_found_reduced_and_stored(tmp_path: Path) -> None:
    code, summary = finished(
        fuzz(FAULT, "-l", "RC", "--seed", "3", "--cases", "150", "--workers", "1", "--out", "o", cwd=tmp_path)
    )
    assert code == summary["exit_code"] == 1
    assert summary["cases"] == 150
    assert summary["stopped"] == "cases"
    first = summary["findings"][0]
    assert first["signature"] == "wrong rows at plain read after update still open"
    assert first["statements"] <= 5
    stored = read_findings(tmp_path / "o" / "findings")
    assert [finding.digest for _, finding in stored] == [one["digest"] for one in summary["findings"]]
    replay = subprocess.run(
        [sys.executable, "-m", *first["replay"].split()], cwd=tmp_path, capture_output=True, check=False
    )
    assert replay.returncode == 1, replay.stderr


def test_where_nothing_is_wrong_nothing_is_found(tmp_path: Path) -> None:
    code, summary = finished(fuzz("simulated", "--seed", "4", "--cases", "400", "--out", "o", cwd=tmp_path))
    assert (code, summary["findings"], summary["violations"]) == (0, [], 0)
    assert summary["judged"] == summary["cases"] == 400


def test_the_seed_makes_the_run_whoever_does_the_work(tmp_path: Path) -> None:
    def counts(*more: str) -> dict[str, Any]:
        out = f"o{len(list(tmp_path.iterdir()))}"
        arguments = (FAULT, "-l", "RC", "-l", "RR", "--seed", "9", "--cases", "500", "--out", out, *more)
        _, summary = finished(fuzz(*arguments, cwd=tmp_path))
        return {name: summary[name] for name in ("cases", "judged", "statements", "blocked", "violations")}

    assert counts("--workers", "1") == counts("--workers", "2")


def test_a_killed_campaign_goes_on_without_loss_or_repetition(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    arguments = (FAULT, "-l", "RC", "--seed", "5", "--cases", "600", "--workers", "2")
    _, whole = finished(fuzz(*arguments, "--out", "whole", cwd=tmp_path))
    process = fuzz(*arguments, "--out", "o", cwd=tmp_path)
    started.append(process)
    for wanted in (30, 200):
        wait_until_under_way(process, tmp_path / "o", wanted)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        process = fuzz("--resume", "o", "--workers", "2", cwd=tmp_path)
        started.append(process)
    code, summary = finished(process)
    assert code == 1
    same = ("cases", "judged", "statements", "blocked", "deadlocks", "violations", "undecided")
    assert {name: summary[name] for name in same} == {name: whole[name] for name in same}
    seen = summary["duplicates"] + summary["unreduced"] + len(summary["findings"])
    assert seen == summary["violations"] == whole["violations"]


def test_ctrl_c_ends_with_the_summary_and_can_go_on(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = fuzz("simulated", "--seed", "5", "--workers", "1", "--out", "o", cwd=tmp_path)
    started.append(process)
    wait_until_under_way(process, tmp_path / "o")
    os.killpg(process.pid, signal.SIGINT)
    code, summary = finished(process)
    assert (code, summary["stopped"]) == (0, "interrupted")
    assert summary["cases"] == advanced(tmp_path / "o") > 0
    more = summary["cases"] + 100
    code, summary = finished(fuzz("--resume", "o", "--cases", str(more), cwd=tmp_path))
    assert (code, summary["stopped"], summary["cases"]) == (0, "cases", more)


def test_a_worker_that_dies_is_replaced(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    process = fuzz(
        "simulated", "--seed", "6", "--cases", "3000", "--workers", "1", "--out", "o", cwd=tmp_path
    )
    started.append(process)
    wait_until_under_way(process, tmp_path / "o")
    workers = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _is_worker(entry, process.pid)
    ]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    code, summary = finished(process)
    assert (code, summary["cases"], summary["replaced_workers"]) == (0, 3000, 1)


def _is_worker(entry: Path, parent: int) -> bool:
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
        return int(fields[1]) == parent and b"spawn_main" in (entry / "cmdline").read_bytes()
    except OSError:
        return False  # gone meanwhile


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
        (("sqlite", "--cases", "0"), "0 is not in the range"),
        (("sqlite", "--workers", "0"), "0 is not in the range"),
        (("sqlite", "--transactions", "1"), "1 is not in the range"),
        (("--resume", "nowhere"), "nowhere is no campaign"),
        (("--resume", "nowhere", "--seed", "3"), "--seed cannot be changed"),
        (("sqlite", "--out", "taken"), "taken exists already"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("")
    process = fuzz(*arguments, cwd=tmp_path)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 2
    assert sentence in err
    assert "Traceback" not in out + err
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]


def test_a_server_that_is_not_there_is_told_with_exit_code_3(tmp_path: Path) -> None:
    process = fuzz("mysql://root:secret@127.0.0.1:1/", "--cases", "10", "--out", "o", cwd=tmp_path)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 3, err
    assert json.loads(out)["stopped"] == "target failed"
    assert "127.0.0.1:1" in err
    assert "secret" not in out + err
    assert b"secret" not in (tmp_path / "o" / FILE).read_bytes()
