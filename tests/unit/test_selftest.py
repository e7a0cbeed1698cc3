"""`acidtest selftest`: every planted fault is killed, nothing clean is, and survivors are told."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from acidtest import selftest
from acidtest.cli import cli
from acidtest.cli.selftest import FORMAT
from acidtest.errors import UsageError
from acidtest.model import Level, ViolationKind
from acidtest.selftest import CLEAN, Kill, kill_table
from acidtest.simulated import BEHAVIOURS, FAULTS, LOCKING, faults_of, levels_of
from acidtest.targets.resolve import open_target

ORACLES = ("solver", "graph", "views", "serial", "replay", "differential")


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    result = CliRunner().invoke(cli, ["selftest", "--cases", "0", "--json"], standalone_mode=False)
    assert (result.exception, result.return_value) == (None, 0), result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def faults(document: dict[str, object]) -> list[dict[str, Any]]:
    listed = document["faults"]
    assert isinstance(listed, list)
    return listed


def test_every_fault_of_every_engine_is_listed(
    document: dict[str, object], faults: list[dict[str, Any]]
) -> None:
    assert document["format"] == FORMAT
    expected = [(engine, fault.name) for engine in BEHAVIOURS for fault in faults_of(engine)]
    assert [(one["engine"], one["fault"]) for one in faults] == expected


def test_every_fault_is_killed_by_two_oracles_or_more(
    document: dict[str, object], faults: list[dict[str, Any]]
) -> None:
    # `differential` asks `solver` who is right, so the two are one.
    by = {(one["engine"], one["fault"]): set(one["killed_by"]) - {"differential"} for one in faults}
    assert {fault for fault, oracles in by.items() if len(oracles) < 2} == set()
    assert document["survivors"] == []


def test_the_own_case_of_a_fault_shows_no_other_kind_of_violation(faults: list[dict[str, Any]]) -> None:
    assert [one["fault"] for one in faults if any(one["other_kinds"].values())] == []


def test_an_oracle_kills_what_it_noticed(faults: list[dict[str, Any]]) -> None:
    for one in faults:
        assert set(one["noticed"]) == set(ORACLES)
        assert one["killed_by"] == [name for name, times in one["noticed"].items() if times]
        assert max(one["noticed"].values()) <= one["runs"]
        assert one["sentence"]


def test_without_a_fault_there_is_no_alarm(document: dict[str, object]) -> None:
    assert document["false_alarms"] == dict.fromkeys(ORACLES, 0)
    runs = [len(levels_of(fault, engine)) for engine in BEHAVIOURS for fault in faults_of(engine)]
    assert document["clean_runs"] == sum(runs)


# -- the table with few faults


@pytest.fixture
def two_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "faults_of", lambda _engine: FAULTS[:2])


@pytest.mark.usefixtures("two_faults")
def test_the_table_is_printed_and_says_how_many_were_killed() -> None:
    arguments = ["selftest", "--cases", "0", "--engine", "locking"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.return_value == 0
    for word in (FAULTS[0].name, FAULTS[1].name, CLEAN, *ORACLES):
        assert word in result.stdout
    assert "2 of 2 faults killed, 2 by two oracles or more" in result.stdout


@pytest.mark.usefixtures("two_faults")
def test_a_fault_that_survives_fails_the_command() -> None:
    # The serial oracle judges SERIALIZABLE only, and these two faults show below it.
    arguments = ["selftest", "--cases", "0", "--oracle", "serial", "--engine", "locking", "--json"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.return_value == 1
    assert json.loads(result.stdout)["survivors"] == [f"simulated@{one.name}" for one in FAULTS[:2]]


def test_a_false_alarm_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def alarmed(_engines: object, oracles: list[str], *_: object) -> list[Kill]:
        noticed, none = dict.fromkeys(oracles, 1), dict.fromkeys(oracles, 0)
        return [
            Kill("simulated@a", "locking", "a", "a sentence", 1, noticed, none),
            Kill("simulated", "locking", CLEAN, "no fault", 1, noticed, none),
        ]

    # The package exports the command under the module's name.
    monkeypatch.setattr(sys.modules["acidtest.cli.selftest"], "kill_table", alarmed)
    result = CliRunner().invoke(cli, ["selftest", "--json"], standalone_mode=False)
    assert result.return_value == 1


def test_a_violation_of_another_kind_is_no_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    mistaken = replace(FAULTS[0], kinds=(ViolationKind.CRASH,))
    monkeypatch.setattr(selftest, "faults_of", lambda _engine: (mistaken,))
    kill, _clean = kill_table([LOCKING.name], ["solver"], 1, 0, lambda *_: None)
    assert (kill.killed_by, kill.mistaken) == ([], {"solver": 1})


@pytest.mark.usefixtures("two_faults")
def test_random_cases_are_added_at_every_level_of_a_fault_and_come_from_the_seed() -> None:
    first, again, other = (
        kill_table([LOCKING.name], ["solver"], seed, 2, lambda *_: None) for seed in (1, 1, 2)
    )
    assert first == again
    assert [kill.runs for kill in first[:-1]] == [3 * len(fault.levels) for fault in FAULTS[:2]]
    assert [kill.runs for kill in other] == [kill.runs for kill in first]
    assert first[-1].killed_by == other[-1].killed_by == []


def test_an_unknown_oracle_is_refused() -> None:
    with pytest.raises(UsageError, match="delphi"):
        CliRunner().invoke(cli, ["selftest", "--oracle", "delphi"], catch_exceptions=False)


# -- downgrade


def test_what_runs_at_a_weaker_level_than_claimed_is_noticed() -> None:
    with open_target("simulated") as target:
        pairs = selftest.downgrades(target, ["solver", "serial"], 1, 0, lambda *_: None)
    assert len(pairs) == 6, "each of four levels with each weaker one"
    for pair in pairs:
        assert pair.cases > 0
        assert pair.noticed["solver"] > 0, (pair.claimed, pair.ran)
        assert (pair.noticed["serial"] > 0) is (pair.claimed is Level.SERIALIZABLE), pair


def test_the_command_prints_downgrades_of_a_target() -> None:
    arguments = ["selftest", "--target", "simulated", "--cases", "0", "--oracle", "solver", "--json"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    rows = json.loads(result.stdout)["downgrades"]
    assert result.return_value == 0
    assert {"claimed": "READ COMMITTED", "ran": "READ UNCOMMITTED"}.items() <= rows[0].items()
    assert all(row["noticed"]["solver"] for row in rows)
