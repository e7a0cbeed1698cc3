"""`acidtest selftest`: every planted fault is killed twice, nothing clean is, and survivors are told."""

import json
import sys

import pytest
from click.testing import CliRunner

from acidtest import selftest
from acidtest.cli import cli
from acidtest.cli.selftest import FORMAT
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.selftest import CLEAN, Kill, kill_table
from acidtest.simulated import FAULTS
from acidtest.targets.resolve import open_target

ORACLES = ("solver", "graph", "views", "serial")


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    result = CliRunner().invoke(cli, ["selftest", "--cases", "0", "--json"], standalone_mode=False)
    assert (result.exception, result.return_value) == (None, 0), result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_every_fault_is_killed_by_two_oracles_or_more(document: dict[str, object]) -> None:
    faults = document["faults"]
    assert isinstance(faults, list)
    assert document["format"] == FORMAT
    assert [one["fault"] for one in faults] == [fault.name for fault in FAULTS]
    assert [one["fault"] for one in faults if len(one["killed_by"]) < 2] == []
    assert document["survivors"] == []


def test_an_oracle_kills_what_it_noticed(document: dict[str, object]) -> None:
    faults = document["faults"]
    assert isinstance(faults, list)
    for one in faults:
        assert set(one["noticed"]) == set(ORACLES)
        assert one["killed_by"] == [name for name, times in one["noticed"].items() if times]
        assert max(one["noticed"].values()) <= one["runs"]
        assert one["sentence"]


def test_without_a_fault_there_is_no_alarm(document: dict[str, object]) -> None:
    assert document["false_alarms"] == dict.fromkeys(ORACLES, 0)
    assert document["clean_runs"] == sum(len(fault.levels) for fault in FAULTS)


# -- the table with few faults


@pytest.fixture
def two_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "FAULTS", FAULTS[:2])


@pytest.mark.usefixtures("two_faults")
def test_the_table_is_printed_and_says_how_many_were_killed() -> None:
    result = CliRunner().invoke(cli, ["selftest", "--cases", "0"], standalone_mode=False)
    assert result.return_value == 0
    for word in (FAULTS[0].name, FAULTS[1].name, CLEAN, *ORACLES):
        assert word in result.stdout
    assert "2 of 2 faults killed, 2 by two oracles or more" in result.stdout


@pytest.mark.usefixtures("two_faults")
def test_a_fault_that_survives_fails_the_command() -> None:
    # The serial oracle judges SERIALIZABLE only, and these two faults show below it.
    arguments = ["selftest", "--cases", "0", "--oracle", "serial", "--json"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.return_value == 1
    assert json.loads(result.stdout)["survivors"] == [FAULTS[0].name, FAULTS[1].name]


def test_a_false_alarm_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def alarmed(oracles: list[str], *_: object) -> list[Kill]:
        noticed = dict.fromkeys(oracles, 1)
        return [Kill("a", "a sentence", 1, noticed), Kill(CLEAN, "no fault", 1, noticed)]

    # The package exports the command under the module's name.
    monkeypatch.setattr(sys.modules["acidtest.cli.selftest"], "kill_table", alarmed)
    result = CliRunner().invoke(cli, ["selftest", "--json"], standalone_mode=False)
    assert result.return_value == 1


@pytest.mark.usefixtures("two_faults")
def test_random_cases_are_added_at_every_level_of_a_fault_and_come_from_the_seed() -> None:
    first, again, other = (kill_table(["solver"], seed, 2, lambda *_: None) for seed in (1, 1, 2))
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
