"""`acidtest reduce` and `acidtest bench reduce` on the simulated target: output, exit codes, bad input."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from acidtest.casefile import load_case, parse_case
from acidtest.cli import cli
from acidtest.errors import UsageError
from acidtest.execute import Executor
from acidtest.model import Case, History
from acidtest.reduce import POLICIES

FAULT = "simulated@dirty-read"

CASE = """\
-- id: dirty
-- level: READ COMMITTED
-- setup
CREATE TABLE stock (id INT PRIMARY KEY, v INT);
INSERT INTO stock VALUES (1, 10), (2, 20);
-- schedule
/* one */ BEGIN;
/* two */ BEGIN;
/* two */ UPDATE stock SET v = 11 WHERE id = 1;
/* two */ SELECT * FROM stock WHERE v > 5;
/* one */ SELECT * FROM stock;                     -- expect: (1,10) (2,20)
/* two */ ROLLBACK;
/* one */ COMMIT;
"""

MINIMAL = """\
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
"""


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    path = tmp_path / "dirty.sql"
    path.write_text(CASE, encoding="utf-8")
    return path


def reduce(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["reduce", *map(str, arguments)], standalone_mode=False)


def test_the_result_is_printed_with_its_run_and_written(dirty: Path, tmp_path: Path) -> None:
    out = tmp_path / "minimal.sql"
    result = reduce(dirty, "-t", FAULT, "--oracle", "solver", "--out", out)
    assert result.return_value == 1
    left = load_case(out)
    wanted = parse_case(f"-- id: dirty\n-- level: READ COMMITTED\n{MINIMAL}", "wanted")
    assert (left.setup, left.schedule) == (wanted.setup, wanted.schedule)
    assert [step.sql for step in left.steps[:3]] == [step.sql for step in wanted.steps[:3]]
    assert out.read_text(encoding="utf-8") in result.stdout
    assert "solver: VIOLATION" in result.stdout
    assert "keeping: wrong rows [P1]: too many (not committed)" in result.stderr
    assert "stopped: minimal" in result.stderr


def test_without_a_violation_there_is_nothing_to_keep(dirty: Path) -> None:
    result = reduce(dirty, "-t", "simulated")
    assert isinstance(result.exception, UsageError)
    assert "no violation to keep" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--level", "all"), "one level"),
        (("--oracle", "none"), "no violation to keep"),
        (("--oracle", "delphi"), "unknown oracle"),
        (("--out", "{case}"), "exists already"),
        (("--out", "{case}.d/x.sql"), "does not exist"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    dirty: Path, arguments: tuple[str, ...], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Executor, "run", lambda *_: pytest.fail("something ran"))
    result = reduce(dirty, "-t", FAULT, *(one.format(case=dirty) for one in arguments))
    assert isinstance(result.exception, UsageError)
    assert sentence in str(result.exception)


def test_ctrl_c_ends_with_the_best_so_far(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Executor.run
    runs = 0

    def interrupted(self: Executor, case: Case, fresh: bool = False) -> History:
        nonlocal runs
        runs += 1
        if runs == 20:
            raise KeyboardInterrupt
        return run(self, case, fresh)

    monkeypatch.setattr(Executor, "run", interrupted)
    result = reduce(dirty, "-t", FAULT, "--oracle", "solver")
    assert result.return_value == 1
    assert "stopped: interrupted" in result.stderr
    assert len(parse_case(result.stdout, "left").schedule) < 7


def test_the_policies_are_compared(dirty: Path) -> None:
    arguments = ["bench", "reduce", "-t", FAULT, "--cases", str(dirty.parent), "--seeds", "2", "--json"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    rows = {row["policy"]: row for row in json.loads(result.stdout)["results"]}
    assert list(rows) == list(POLICIES)
    for row in rows.values():
        assert (row["findings"], row["reductions"], row["minimal"]) == (1, 2, 2)
        assert 0.3 < row["reduction_rate"] < 0.8
        assert 0 < row["validity"] < 1
        assert 0 < row["runs_to_most"] <= row["runs"]


def test_a_folder_in_which_nothing_shows_is_refused(dirty: Path, tmp_path: Path) -> None:
    for target, folder in (("simulated", dirty.parent), (FAULT, tmp_path / "empty")):
        folder.mkdir(exist_ok=True)
        arguments = ["bench", "reduce", "-t", target, "--cases", str(folder)]
        assert isinstance(CliRunner().invoke(cli, arguments, standalone_mode=False).exception, UsageError)
