"""What is said of a campaign that has ended, whatever it did, and what the exit code is then."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from acidtest.campaign.coordinator import Ended
from acidtest.campaign.statistics import DEFECT
from acidtest.campaign.store import Listed, Store, Violation
from acidtest.cli import cli
from tests.unit.campaign_views import first


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
    monkeypatch.setattr(command, "_stored", lambda _store: ([object()], []))
    assert command._try_elsewhere(object())
    assert "the other targets are left out" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_defect_while_findings_are_tried_elsewhere_is_told_and_loses_nothing(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("of ours")

    monkeypatch.setattr(command, "look_elsewhere", broken)
    monkeypatch.setattr(command, "_stored", lambda _store: ([object()], []))
    assert not command._try_elsewhere(SimpleNamespace(folder=tmp_path))
    assert "a defect of acidtest, KeyError: 'of ours'" in capsys.readouterr().err
    assert "Traceback" in (tmp_path / "errors.log").read_text()
