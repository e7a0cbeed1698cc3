"""Campaigns in which something goes wrong: a DBMS takes its worker along, a worker hangs, acidtest errs."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from acidtest.campaign.crash import BROKEN_OFF
from acidtest.campaign.defects import FILE as ERRORS
from acidtest.campaign.statistics import DEFECT, ENDED_PROCESS
from acidtest.report.folder import read_findings
from tests.campaign.campaigns import Campaigns, workers_of

SIMPLE = ("--profile", "simple", "--seed", "3", "--workers", "1", "--out", "o")


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
