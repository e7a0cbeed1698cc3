"""Known bugs of real servers as findings: their reports, and where else they show."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest import corpus
from acidtest.casefile import load_case
from acidtest.investigation.elsewhere import everywhere
from acidtest.oracles.registry import ORACLES
from acidtest.report.findings import report
from acidtest.report.folder import read_finding, write_finding
from tests.unit.found import found

OWN_UPDATE, MOVED_KEY = (load_case(corpus.find(name)) for name in ("MDEV-26642", "MDEV-32898"))


@pytest.mark.live("mariadb@10.11")
def test_the_report_of_a_known_bug() -> None:
    told = report(replace(found(OWN_UPDATE, "mariadb@10.11"), resembles=("MDEV-26642",)))
    assert told.startswith("# REPEATABLE READ: a transaction does not see its own UPDATE\n")
    assert "expected: (10,0) (10,1)\nobserved: (10,0) (1,1)" in told
    assert "| setting innodb\\_snapshot\\_isolation | OFF |" in told
    assert "<https://jira.mariadb.org/browse/MDEV-26642>" in told


@pytest.mark.live("mariadb@10.11", "mysql@9.7", "postgres")
def test_where_known_bugs_show() -> None:
    findings = [found(OWN_UPDATE, "mariadb@10.11"), found(MOVED_KEY, "mariadb@10.11")]
    specs = ["mariadb@10", "mysql@9.7", "postgres", "sqlite"]
    seen = {
        (place, one.target): one.found
        for place, one in everywhere(findings, specs, tuple(ORACLES), lambda _what: None)
    }
    # mariadb@10 is the newest of that kind: 10.11, where the findings are from, and so left out.
    assert seen == {
        (0, "mysql@9.7"): "does not show",
        (1, "mysql@9.7"): "shows",
        (0, "postgres"): "does not show",
        (1, "postgres"): "does not show",
        (0, "sqlite"): "not run",
        (1, "sqlite"): "not run",
    }


@pytest.mark.live("mariadb@10.11", "mysql@9.7")
def test_commands_of_a_user(tmp_path: Path) -> None:
    folder = write_finding(tmp_path / "findings", 1, found(MOVED_KEY, "mariadb@10.11"))
    assert acidtest(tmp_path, "findings", ".", "1", "--elsewhere", "-t", "mysql@9.7").returncode == 0
    (seen,) = read_finding(folder).elsewhere
    assert (seen.target, seen.level, seen.found) == ("mysql@9.7", "RR", "shows")
    shown = acidtest(tmp_path, "findings", ".", "1")
    replay = shown.stdout.splitlines()[-1].removeprefix("replay: acidtest ")
    assert acidtest(tmp_path, *replay.split()).returncode == 1


def acidtest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acidtest", *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
