"""What a campaign writes where nobody reads it, and what its exit code is then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acidtest.campaign.store import Store

COMMAND = (
    f"{sys.executable} -m acidtest fuzz simulated -l RC --profile simple --seed 3 --workers 1 --no-elsewhere"
)


def in_shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=100,
    )


@pytest.mark.parametrize("ending", ["2>&1 | head -1", "| true", "2>/dev/full", "2>&-", "--json 2>&-"])
def test_that_nobody_reads_it_does_not_change_the_exit_code(ending: str, tmp_path: Path) -> None:
    ran = in_shell(f"{COMMAND} --cases 5 {ending}", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    with Store.resume(next(tmp_path.iterdir())) as store:
        assert store.statistics().cases == 5


def test_a_summary_that_cannot_be_written_is_told_in_one_sentence(tmp_path: Path) -> None:
    ran = in_shell(f"{COMMAND} --cases 5 --json >/dev/full", tmp_path)
    assert ran.returncode == 2
    assert "acidtest: error: the summary cannot be written: No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_the_encoding_lacks_is_written_in_ascii(tmp_path: Path) -> None:
    faulty = COMMAND.replace("simulated", "simulated@dirty-read")
    ran = in_shell(f"{faulty} --cases 30 --out 'ünï→'", tmp_path, PYTHONIOENCODING="latin-1")
    assert ran.returncode == 1, ran.stderr
    assert "001-" in ran.stdout
    assert "Traceback" not in ran.stderr
