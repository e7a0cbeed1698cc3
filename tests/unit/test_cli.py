"""The command line on engines that need no server: output, JSON, exit codes, and every kind of bad input."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from acidtest import __main__
from acidtest.bench.fuzz import _told
from acidtest.casefile import parse_case
from acidtest.cli import cli, main
from acidtest.cli.fuzz import fuzz
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import DiedLaterError, Executor
from acidtest.model import Case, History

CASE = """\
-- id: lost
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;    -- expect: error lock-not-available
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t;                         -- expect: (1,{seen})
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Acidtest = Callable[..., Result]


@pytest.fixture
def acidtest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Acidtest:
    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["acidtest", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def met(tmp_path: Path) -> str:
    path = tmp_path / "met.sql"
    path.write_text(CASE.format(seen=11), encoding="utf-8")
    return str(path)


@pytest.fixture
def unmet(tmp_path: Path) -> str:
    path = tmp_path / "unmet.sql"
    path.write_text(CASE.format(seen=99), encoding="utf-8")
    return str(path)


def test_run_prints_a_case_file_of_what_happened(acidtest: Acidtest, met: str) -> None:
    result = acidtest("run", met, "--target", "sqlite")
    assert result.code == 0
    assert "/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;  -- error lock-not-available" in result.out
    assert "-- t: (1,11)" in result.out
    again = parse_case(result.out, "again")
    assert [step.sql for step in again.steps] == [
        step.sql for step in parse_case(CASE.format(seen=11), "x").steps
    ]


def test_an_unmet_expectation_is_a_finding(acidtest: Acidtest, unmet: str) -> None:
    result = acidtest("run", unmet, "--target", "sqlite")
    assert result.code == 1
    assert "UNMET, expected (1,99)" in result.out


@pytest.mark.parametrize("error", [UsageError("refused"), TargetFailedError("gone"), KeyboardInterrupt()])
def test_runs_that_ended_are_printed_whatever_ends_a_later_one(
    error: BaseException, acidtest: Acidtest, met: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Executor.run
    ran: list[str] = []

    def run_once(self: Executor, case: Case, fresh: bool = False) -> History:
        if ran:
            raise error
        ran.append(case.id)
        return run(self, case, fresh)

    monkeypatch.setattr(Executor, "run", run_once)
    result = acidtest("run", met, met, "--target", "sqlite", "--json")
    assert result.code == {UsageError: 2, TargetFailedError: 3, KeyboardInterrupt: 130}[type(error)]
    assert [run["case"] for run in json.loads(result.out)["runs"]] == ["lost"]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_server_that_dies_after_a_run_is_told_with_that_run(
    as_json: bool, acidtest: Acidtest, met: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Executor.run
    told: list[History] = []

    def die_once(self: Executor, case: Case, fresh: bool = False) -> History:
        if len(told) == 1:
            told.append(replace(told[0], died=True))
            raise DiedLaterError(told[1], "it does not answer any more")
        told.append(run(self, case, fresh))
        return told[-1]

    monkeypatch.setattr(Executor, "run", die_once)
    result = acidtest("run", met, met, "--target", "sqlite", *(["--json"] if as_json else []))
    assert result.code == 3
    assert len(told) == 3  # it goes on with the second case
    if as_json:
        first, second = json.loads(result.out)["runs"]
        assert (first["server_died"], second["server_died"]) == (True, False)
        crash = next(one for one in first["verdicts"] if one["oracle"] == "crash")
        assert crash["verdict"] == "violation"
    else:
        assert "the server died when this run was over" in result.out
        assert "-- crash: VIOLATION" in result.out


def test_json_has_every_documented_field(acidtest: Acidtest, unmet: str) -> None:
    result = acidtest("run", unmet, "--target", "sqlite", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["format"] == "acidtest-run/1"
    (run,) = document["runs"]
    assert (run["case"], run["target"], run["dbms"], run["level"]) == (
        "lost",
        "sqlite",
        "sqlite",
        "SERIALIZABLE",
    )
    refused = run["statements"][2]
    assert refused["outcome"] == "error"
    assert refused["error"]["kind"] == "lock-not-available"
    assert refused["rows"] is None
    assert run["statements"][4]["rows"] == [[1, 11]]
    assert run["final_state"] == {"t": [[1, 11]]}
    assert run["observed_order"] == [0, 1, 2, 3, 4]
    assert run["unmet"] == [{"step": 4, "table": None, "expected": "(1,99)", "observed": "(1,11)"}]
    documented = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    for name in (*run, *refused):
        assert f"`{name}`" in documented, f"docs/json.md does not tell of {name}"


def test_a_case_for_other_targets_is_skipped_unless_forced(acidtest: Acidtest) -> None:
    result = acidtest("run", "MDEV-26642", "--target", "sqlite")
    assert result.code == 0
    assert "skipped on sqlite: it is for mariadb" in result.out
    assert "skipped" not in acidtest("run", "MDEV-26642", "--target", "sqlite", "--force").out


def test_levels_of_an_embedded_engine(acidtest: Acidtest) -> None:
    result = acidtest("levels", "sqlite", "--json")
    assert result.code == 0
    table = json.loads(result.out)
    assert table["levels"] == ["SERIALIZABLE"]
    assert not [a for a in table["anomalies"] if a["levels"]["SERIALIZABLE"]["observed"] == "occurs"]
    assert table["notes"] == []


def test_the_corpus_is_listed_and_shown(acidtest: Acidtest) -> None:
    assert "MDEV-26642" in acidtest("bugs", "list").out
    assert "-- id: MDEV-26642" in acidtest("bugs", "show", "mdev-26642").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(acidtest: Acidtest, shell: str) -> None:
    assert "_ACIDTEST_COMPLETE" in acidtest("completion", shell).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "no-such-case"], "'no-such-case' is neither a file nor a case of the corpus"),
        (["run", "{met}", "-t", "oracle"], "unknown target 'oracle'; known are postgres"),
        (["run", "{met}", "-t", "oracle://host/"], "unknown kind of address oracle://"),
        (["run", "{met}", "-t", "sqlite@0.1"], "run: acidtest server install sqlite@0.1"),
        (["run", "{met}", "-t", "sqlite", "-l", "RCC"], "unknown isolation level 'RCC'"),
        (["run", "{met}", "-t", "sqlite", "-l", "RC"], "sqlite has no isolation level READ COMMITTED"),
        (["run", "{met}", "-t", "mysql://root@127.0.0.1:99999/"], "is not a number from 0 to 65535"),
        (["run", "{met}", "-t", "sqlite:///"], "names no file"),
        (["levels", "nosuch"], "unknown target 'nosuch'"),
        (["bench", "fuzz", "-t", "sqlite", "--oracle", "none"], "leave out --oracle none"),
        (["bench", "fuzz", "-t", "simulated@nonsense"], "nonsense"),
        (["demo", "--for", "soon"], "--for 'soon' is no duration"),
        (["run", "{folder}", "-t", "sqlite"], "{folder}"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    acidtest: Acidtest, met: str, arguments: list[str], sentence: str
) -> None:
    places = {"met": met, "folder": str(Path(met).parent)}
    result = acidtest(*(argument.format(**places) for argument in arguments))
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("acidtest: error: ")
    assert sentence.format(**places) in result.err
    assert result.err.count("\n") == 1


def test_a_refused_setup_quotes_the_statement(acidtest: Acidtest, tmp_path: Path) -> None:
    path = tmp_path / "broken.sql"
    path.write_text("-- setup\nCREATE TABEL t (a INT);\n-- schedule\n/* tx1 */ SELECT 1;\n", encoding="utf-8")
    result = acidtest("run", str(path), "-t", "sqlite")
    assert result.code == 2
    assert "CREATE TABEL t (a INT)" in result.err


@pytest.mark.parametrize(
    ("address", "secret"),
    [("mysql://root:hunter2@127.0.0.1:1/", "hunter2"), ("postgresql://me:hunter2@127.0.0.1:1/", "hunter2")],
)
def test_an_unreachable_server_is_exit_code_2_and_tells_no_password(
    acidtest: Acidtest, met: str, address: str, secret: str
) -> None:
    result = acidtest("run", met, "-t", address)
    assert result.code == 2
    assert result.err.startswith("acidtest: error: ")
    assert secret not in result.out + result.err


def test_a_foreign_sqlite_file_is_left_alone(acidtest: Acidtest, met: str, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"precious data, not of acidtest's making")
    result = acidtest("run", met, "-t", f"sqlite://{foreign}")
    assert result.code == 2
    assert foreign.read_bytes() == b"precious data, not of acidtest's making"


def test_an_unforeseen_exception_is_no_finding(acidtest: Acidtest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a defect")

    monkeypatch.setitem(cli.commands, "broken", click.Command("broken", callback=broken))
    result = acidtest("broken")
    assert result.code == 70
    assert result.err.startswith("Traceback")
    assert "RuntimeError: a defect" in result.err


@pytest.mark.parametrize("command", ["bugs list", "bugs show MDEV-26642"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_went_away_is_nothing_wrong(command: str, unbuffered: str) -> None:
    line = f"set -o pipefail; {sys.executable} -m acidtest {command} | true"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ran = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, check=False, timeout=100)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_another_pipe_that_breaks_is_a_defect(acidtest: Acidtest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise BrokenPipeError

    monkeypatch.setitem(cli.commands, "broken", click.Command("broken", callback=broken))
    assert acidtest("broken").code == 70


def test_ctrl_c_while_everything_is_imported_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "acidtest.cli", Interrupted("acidtest.cli"))
    with pytest.raises(SystemExit) as exit_:
        __main__.main()
    assert exit_.value.code == 130


@pytest.mark.parametrize(("code", "told"), [(0, 0), (1, 0), (3, 3), (70, 70)])
def test_findings_are_what_a_demo_is_for(
    code: int, told: int, acidtest: Acidtest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fuzzed(out: Path, **_: object) -> int:
        (out / "findings").mkdir(parents=True)
        return code

    demo = sys.modules["acidtest.cli.demo"]
    monkeypatch.setattr(demo, "_provide", lambda: "simulated")
    monkeypatch.setattr(demo, "fuzz", click.Command("fuzz", params=fuzz.params, callback=fuzzed))
    monkeypatch.chdir(tmp_path)
    assert acidtest("demo").code == told


def test_bench_oracles_compares_the_default_with_solver_alone_at_every_level() -> None:
    arguments = ["bench", "oracles", "-t", "simulated", "--cases", "1", "--json"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    rows = json.loads(result.stdout)["results"]
    assert [row["level"] for row in rows] == ["RU", "RC", "RR", "SER"]
    assert all(row["ratio"] > 0 and row["median_ratio"] > 0 and row["cases"] == 40 for row in rows)


def test_a_bench_worker_that_dies_is_noticed_while_others_wait() -> None:
    (waiting, _theirs), (dead, its) = Pipe(), Pipe()
    its.close()
    with pytest.raises(EOFError):
        _told([waiting, dead])
