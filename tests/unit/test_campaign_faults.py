"""Campaigns in which something goes wrong: a DBMS takes its worker along, a worker hangs, acidtest errs."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from ctypes import c_long
from multiprocessing import Pipe
from pathlib import Path

import pytest

from acidtest.campaign.casebook import FINDING, Casebook
from acidtest.campaign.crash import BROKEN_OFF, case_at, crash_finding, crash_of
from acidtest.campaign.defects import FILE as ERRORS
from acidtest.campaign.defects import DefectLog
from acidtest.campaign.messages import Defect, Doing, Stop, Stopped, TargetLost
from acidtest.campaign.plan import Cell, Chunk, Settings
from acidtest.campaign.statistics import DEFECT, ENDED_PROCESS
from acidtest.campaign.store import Store
from acidtest.campaign.worker import NOWHERE, Worker
from acidtest.findings.folder import read_finding, read_findings, write_finding
from acidtest.model import Level
from tests.unit.campaigns import Campaigns, workers_of

SIMPLE = ("--profile", "simple", "--seed", "3", "--workers", "1", "--out", "o")


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[Campaigns]:
    campaigns = Campaigns(tmp_path)
    yield campaigns
    campaigns.stop()


# -- crashes


def test_a_dbms_that_takes_its_process_along_is_a_finding(tmp_path: Path, campaigns: Campaigns) -> None:
    code, summary = campaigns.run("sqlite", *SIMPLE, "--cases", "60", CRASH_AT="-0-2-1")
    assert (code, summary["cases"], summary["stopped"]) == (1, 60, "cases")
    assert (summary["crashes"], summary["replaced_workers"], summary["violations"]) == (1, 1, 1)
    assert summary["undecided"] == {ENDED_PROCESS: 1}
    assert summary["judged"] == 59, "no case is lost, and none is counted twice"
    ((_, finding),) = read_findings(tmp_path / "o" / "findings")
    assert (finding.kind, finding.case, finding.broken_off) == ("crash", "sqlite-SER-0-2-1", BROKEN_OFF)
    assert (finding.level, finding.version) == ("SER", summary["targets"][0]["version"])
    assert finding.minimal == finding.original
    assert "SIGSEGV" in finding.summary


def test_one_crash_after_the_other_does_not_end_a_campaign(campaigns: Campaigns) -> None:
    """Four in one chunk: more than a chunk may otherwise cost."""
    code, summary = campaigns.run("simulated", *SIMPLE, "-l", "RC", "--cases", "50", CRASH_AT="-1")
    assert (code, summary["cases"], summary["stopped"]) == (1, 50, "cases")
    assert summary["undecided"] == {ENDED_PROCESS: summary["crashes"]}
    assert summary["crashes"] == len(summary["findings"]) + summary["duplicates"] > 3


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


# -- hangs


def under_way(campaigns: Campaigns, *arguments: str, **sabotage: str) -> subprocess.Popen[str]:
    process = campaigns.start("simulated", "-l", "RC", *SIMPLE, *arguments, **sabotage)
    campaigns.wait_until_under_way(process, "o")
    return process


def freeze(process: subprocess.Popen[str]) -> None:
    for number in workers_of(process):
        os.kill(number, signal.SIGSTOP)


def test_a_worker_that_hangs_is_replaced(campaigns: Campaigns) -> None:
    process = under_way(campaigns, "--cases", "1000", SILENCE_S="8")
    freeze(process)
    code, summary = campaigns.finish(process)
    assert (code, summary["cases"], summary["stopped"]) == (0, 1000, "cases")
    assert summary["replaced_workers"]
    assert "hung and was ended" in summary["notes"][0]


def test_a_second_ctrl_c_ends_a_campaign_whose_worker_hangs(campaigns: Campaigns) -> None:
    process = under_way(campaigns)
    freeze(process)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    code, summary = campaigns.finish(process)
    assert (code, summary["stopped"]) == (0, "interrupted")


def test_a_worker_that_hangs_when_the_time_is_up_is_ended(campaigns: Campaigns) -> None:
    process = under_way(campaigns, "--for", "6s", SILENCE_S="8")
    freeze(process)
    code, summary = campaigns.finish(process)
    assert (code, summary["stopped"]) == (0, "time")


# -- signals at the end


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_servers_are_given_back_loses_nothing(
    second: signal.Signals, campaigns: Campaigns
) -> None:
    process = under_way(campaigns, SLOW_CLOSING_S="100")
    process.send_signal(signal.SIGINT)
    time.sleep(2)
    process.send_signal(second)
    code, summary = campaigns.finish(process)
    assert (code, summary["stopped"]) == (0, "interrupted")
    assert summary["cases"] == campaigns.advanced("o")


# -- targets


def test_a_target_that_is_given_up_is_told_as_the_end(campaigns: Campaigns) -> None:
    arguments = ("simulated", "sqlite", "-l", "SER", *SIMPLE, "--cases", "450")
    code, summary = campaigns.run(*arguments, LOST_TARGET="sqlite")
    assert (code, summary["stopped"]) == (3, "target failed")
    assert summary["cases"] == 250, "the share of the other one is not its own"


def test_which_cases_are_run_depends_on_the_settings_alone(campaigns: Campaigns) -> None:
    def positions(workers: str) -> list[tuple[str, str, int, int]]:
        arguments = ("simulated", "sqlite", "-l", "SER", "--profile", "simple", "--seed", "3")
        campaigns.run(*arguments, "--cases", "650", "--workers", workers, "--out", f"o{workers}")
        return campaigns.positions(f"o{workers}")

    assert positions("1") == positions("2")


# -- resuming


def test_a_campaign_whose_time_is_up_does_nothing_more(campaigns: Campaigns) -> None:
    _, before = campaigns.run("simulated", *SIMPLE, "--for", "2s")
    code, after = campaigns.run("--resume", "o")
    assert (code, after["stopped"], after["workers"]) == (0, "time", 0)
    assert after["cases"] == before["cases"]


# -- defects of acidtest


def test_a_defect_costs_one_case_and_is_told(tmp_path: Path, campaigns: Campaigns) -> None:
    process = campaigns.start("sqlite", *SIMPLE, "--cases", "60", DEFECT_AT="-0-2-1")
    out, err = process.communicate(timeout=100)
    assert process.returncode == 70, err
    assert err.count('note: a defect of acidtest, KeyError: "the executor\'s"') == 1
    assert "Traceback" not in out + err
    log = (tmp_path / "o" / ERRORS).read_text()
    assert log.startswith("sqlite-SER-0-2-1: KeyError")
    assert "Traceback" in log
    code, summary = campaigns.run("--resume", "o", "--cases", "70")
    assert (code, summary["exit_code"], summary["cases"]) == (70, 70, 70)
    assert (summary["defects"], summary["undecided"], summary["judged"]) == (1, {DEFECT: 1}, 69)
    assert summary["replaced_workers"] == 0


def test_a_defect_of_an_oracle_is_told_and_the_others_go_on(tmp_path: Path, campaigns: Campaigns) -> None:
    code, summary = campaigns.run("sqlite", *SIMPLE, "--cases", "60", ORACLE_DEFECT_AT="-0-2-1")
    assert (code, summary["cases"], summary["defects"]) == (70, 60, 1)
    assert (summary["judged"], summary["undecided"]) == (60, {}), "serial decides at SERIALIZABLE"
    log = (tmp_path / "o" / ERRORS).read_text()
    assert log.startswith("sqlite-SER-0-2-1, oracle solver: KeyError")
    assert "Traceback" in log


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
