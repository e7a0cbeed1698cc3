"""What a campaign writes where nobody reads it, and what its exit code is then."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from acidtest.campaign.coordinator import Ended
from acidtest.campaign.statistics import DEFECT
from acidtest.campaign.store import Listed, Store, Violation
from acidtest.cli import cli
from tests.unit.campaign_views import first

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


# -- a campaign that has ended, whatever it did


class Over:
    """Stands in for a campaign: it lists a finding whose folder is not there any more."""

    defects = 0
    target_failed = ""

    def __init__(self, store: Store, *_: object) -> None:
        self._store = store

    def run(self) -> Ended:
        listed = Listed(1, "simulated", "0badcafe", 1.0, "001-0badcafe")
        self._store.violated(Violation("case-1", "simulated", "s", "finding"), 1.0, listed)
        view = first()
        view.statistics.undecided[DEFECT] += self.defects
        return Ended(view, "cases", self.target_failed)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    module = sys.modules["acidtest.cli.fuzz"]
    monkeypatch.setattr(module, "Campaign", Over)
    monkeypatch.chdir(tmp_path)
    return module


def call(*arguments: str) -> int:
    code = cli(["fuzz", "simulated", "--json", *arguments], standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_a_finding_that_cannot_be_read_is_told_and_the_summary_comes(
    command: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("--ignore-known") == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["findings"] == []
    assert "001-0badcafe is no finding" in err


def test_what_was_not_tested_outweighs_what_was_found(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Over, "defects", 2)
    assert call("--out", "a") == 70
    monkeypatch.setattr(Over, "target_failed", "it is gone")
    assert call("--out", "b") == 3


def test_sigterm_leaves_out_the_other_targets_as_ctrl_c_does(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(command, "look_elsewhere", terminated)
    command._try_elsewhere([object()])
    assert "the other targets are left out" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before
