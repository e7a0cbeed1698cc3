"""What is stored of a DBMS that took its worker along, and of a defect of acidtest."""

import signal
from contextlib import ExitStack
from ctypes import c_long
from multiprocessing import Pipe
from pathlib import Path

import pytest

from acidtest.campaign.casebook import FINDING, Casebook
from acidtest.campaign.crash import case_at, crash_finding, crash_of
from acidtest.campaign.defects import FILE as ERRORS
from acidtest.campaign.defects import DefectLog
from acidtest.campaign.messages import Defect, Doing, Stop, Stopped, TargetLost
from acidtest.campaign.plan import Cell, Chunk, Settings
from acidtest.campaign.store import Store
from acidtest.campaign.worker import NOWHERE, Worker
from acidtest.model import Level
from acidtest.report.folder import read_finding, write_finding


def test_the_finding_of_a_crash_can_be_stored_and_read(tmp_path: Path) -> None:
    settings = Settings(("sqlite",), (), (), "simple", 7)
    chunk = Chunk(Cell("sqlite", (Level.SERIALIZABLE,)), 2, 200)
    case = case_at(chunk, 17, settings, "3.40.1")
    assert case.id.startswith("sqlite-SER-2-")
    finding = crash_finding(case, "sqlite", "3.40.1", 7, "SIGABRT")
    assert read_finding(write_finding(tmp_path, 1, finding)) == finding
    assert not finding.is_flaky


def test_a_crash_that_is_met_again_after_a_kill_is_counted_once(tmp_path: Path) -> None:
    settings = Settings(("sqlite",), (), (), "simple", 7)
    chunk = Chunk(Cell("sqlite", (Level.SERIALIZABLE,)), 0, 200)
    finding = crash_finding(case_at(chunk, 3, settings, "3.40.1"), "sqlite", "3.40.1", 7, "SIGSEGV")
    with Store.create(tmp_path / "out", settings) as store:
        Casebook(store).crashed(finding, 1.0)
        again = Casebook(store)
        again.crashed(finding, 2.0)
        assert (again.crashes, again.became, len(again.lines)) == (1, {FINDING: 1}, 1)


def test_what_counts_as_a_crash() -> None:
    assert crash_of(-signal.SIGSEGV) == "SIGSEGV"
    assert crash_of(-signal.SIGABRT) == "SIGABRT"
    assert [crash_of(code) for code in (-signal.SIGKILL, -signal.SIGTERM, 0, 1, 11, None)] == [None] * 6


def test_a_defect_that_shows_again_is_written_in_one_line(tmp_path: Path) -> None:
    log = DefectLog(tmp_path)
    first, second = (Defect(f"case-{n}", f"KeyError: {n}", "chains.py:89", "Traceback") for n in (1, 2))
    assert log.add(first) == (
        f"a defect of acidtest, KeyError: 1 (chains.py:89), at case-1; see {tmp_path / ERRORS}"
    )
    assert log.add(second) is None
    assert (tmp_path / ERRORS).read_text() == (
        "case-1: KeyError: 1 (chains.py:89)\nTraceback\ncase-2: KeyError: 2 (chains.py:89)\n"
    )


def test_a_target_that_a_defect_keeps_from_being_opened_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried for case after case: three times, as any other that cannot be had."""

    def broken(spec: str) -> None:
        raise KeyError(spec)

    monkeypatch.setattr("acidtest.campaign.worker.open_target", broken)
    ours, theirs = Pipe()
    ours.send(Chunk(Cell("sqlite", (Level.SERIALIZABLE,)), 0, 200))
    ours.send(Stop())
    settings = Settings(("sqlite",), (), (), "simple", 7)
    with ExitStack() as resources:
        Worker(theirs, c_long(NOWHERE), settings, {"sqlite": "sqlite"}, resources).run()
    told = [ours.recv() for _ in range(4)]
    assert [type(message) for message in told] == [Doing, Defect, TargetLost, Stopped]
    assert told[1].where == "sqlite"
    assert told[2].may_return
