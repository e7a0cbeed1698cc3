"""Isolation specs on real servers: permutations agree with what was recorded, and tampering shows."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from acidtest.cli import main

FOLDER = Path(__file__).parents[1] / "isolation"
PERMUTATIONS = 17


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["acidtest", "run", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A copy of our specs and what was recorded of them."""
    return Path(shutil.copytree(FOLDER, tmp_path / "isolation"))


@pytest.mark.live("postgres@18")
def test_a_folder_agrees_with_its_recorded_outputs(run: Run) -> None:
    ran = run(FOLDER / "specs", "-t", "postgres@18")
    assert ran.code == 0, ran.out
    assert f"6 specs, {PERMUTATIONS} of {PERMUTATIONS} permutations run, {PERMUTATIONS} agree" in ran.out
    assert "0 differ" in ran.out
    assert "several-statements (5 of 6, 3 permutations)" in ran.err


@pytest.mark.live("postgres@12")
def test_an_older_release_agrees_with_the_other_recorded_output(run: Run) -> None:
    ran = run(FOLDER, "--json", "-t", "postgres@12", "--oracle", "none")
    (document,) = json.loads(ran.out)["targets"]
    assert document["results"] == {"agrees": PERMUTATIONS, "differs": 0, "ran": 0, "not run": 0}
    assert ran.code == 0


def differing(document: dict[str, Any]) -> dict[tuple[str, int], list[str]]:
    return {
        (one["spec"], one["number"]): [each["step"] for each in one["differences"]]
        for one in document["permutations"]
        if one["result"] == "differs"
    }


@pytest.mark.live("postgres@18")
def test_what_was_recorded_otherwise_differs(run: Run, specs: Path) -> None:
    for name, recorded, tampered in (
        ("hold-and-wait", "Ann | co|   9.50", "Ann | co|   9.51"),
        ("several-statements", "step m2: <... completed>\na| b\n", "a| b\n"),
        ("lock-timeout", "ERROR:  canceling statement due to lock timeout\nstep see", "step see"),
        ("notices", "v is 11", "v is 12"),
    ):
        path = specs / "expected" / f"{name}.out"
        text = path.read_text()
        assert recorded in text
        path.write_text(text.replace(recorded, tampered, 1))
    ran = run(specs, "--json", "-t", "postgres@18", "--oracle", "none")
    assert ran.code == 1
    (document,) = json.loads(ran.out)["targets"]
    assert differing(document) == {
        ("hold-and-wait", 1): ["look"],
        ("lock-timeout", 1): ["try"],
        ("notices", 1): ["notices"],
        ("several-statements", 1): ["m2", "m2", "c1"],
    }


@pytest.mark.live("postgres@18")
def test_one_spec_prints_its_permutations_as_cases(run: Run, specs: Path) -> None:
    path = specs / "expected" / "two-outputs.out"
    (specs / "expected" / "two-outputs_1.out").unlink()
    ran = run(specs / "specs" / "two-outputs.spec", "--compare", path, "-t", "postgres@18")
    assert ran.code == 1
    assert "-- title: permutation 2 of two-outputs: one" in ran.out
    assert (
        "-- DIFFERS from the recorded output at release: expected newer: (f), observed newer: (t)" in ran.out
    )
    assert ran.out.count("-- as recorded") == 1


@pytest.mark.live("postgres@18")
def test_one_permutation_is_a_case_like_any_other(run: Run) -> None:
    ran = run(f"{FOLDER / 'specs' / 'all-orders.spec'}#5", "-t", "postgres@18")
    assert ran.code == 0
    assert ran.out.count("-- schedule") == 1
    assert "-- title: permutation 5 of all-orders: go_b go_a c_b c_a" in ran.out
    assert "-- as recorded" in ran.out


@pytest.mark.live("postgres@18")
def test_what_cannot_be_run_is_said_and_the_rest_is_run(run: Run, specs: Path) -> None:
    refused = "setup { CREATE TABLE t (a nonsense); } session s step a { SELECT 1; }"
    (specs / "specs" / "refused.spec").write_text(refused)
    (specs / "specs" / "named.spec").write_text(
        "session s step a { GRANT TEMP ON DATABASE isolation_regression TO PUBLIC; }"
    )
    ran = run(specs, "-t", "postgres@18", "--oracle", "none")
    assert ran.code == 0, ran.out
    assert "refused 1 (a): not run: postgres@18 refuses the set-up statement" in ran.out
    assert "named 1 (a): not run: it names the database isolation_regression" in ran.out
    assert f"{PERMUTATIONS} of {PERMUTATIONS + 2} permutations run" in ran.out


POISONED = """
session s
step a { BEGIN; CREATE TABLE gone (a int); DELETE FROM pg_class WHERE relname = 'gone'; COMMIT; }
"""


@pytest.mark.live("postgres@18")
def test_a_spec_that_ruins_its_database_ruins_no_other(run: Run, specs: Path) -> None:
    (specs / "specs" / "a-poisoned.spec").write_text(POISONED)
    ran = run(specs, "-t", "postgres@18", "--oracle", "none")
    assert f"{PERMUTATIONS} agree" in ran.out


ROLES = """
setup    { CREATE TABLE t (a int); CREATE ROLE acidtest_reader; GRANT SELECT ON t TO acidtest_reader; }
teardown { DROP TABLE t; DROP ROLE acidtest_reader; }
session s
step as_reader { SET ROLE acidtest_reader; }
step read      { SELECT a FROM t; }
"""


@pytest.mark.live("postgres@18")
def test_roles_of_one_permutation_are_not_in_the_way_of_the_next(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "roles.spec").write_text(
        ROLES + "permutation as_reader read\npermutation as_reader read\npermutation read as_reader\n"
    )
    ran = run(tmp_path, "-t", "postgres@18", "--oracle", "views", "--oracle", "serial")
    assert "3 of 3 permutations run" in ran.out
    assert ran.code == 0


DEADLY = """
session s
step kill { COPY (SELECT 1) TO PROGRAM 'kill -9 $(head -n 1 postmaster.pid) $PPID'; }
step see  { SELECT 1; }
permutation see
permutation kill
permutation see
"""


@pytest.mark.live("postgres@18")
def test_a_spec_that_kills_the_server_ends_and_the_next_is_run(run: Run, specs: Path) -> None:
    (specs / "specs" / "b-deadly.spec").write_text(DEADLY)
    ran = run(specs, "-t", "postgres@18", "--oracle", "crash")
    assert ran.code == 3
    assert "b-deadly 2 (kill): crash found a violation: crash" in ran.out
    assert "b-deadly 3 (see): not run: the server died at permutation 2" in ran.out
    assert f"{PERMUTATIONS} agree" in ran.out


TWO_PHASE = """
setup    { CREATE TABLE t (a int); }
teardown { DROP TABLE t; }
session s
step w { BEGIN; INSERT INTO t VALUES (1); }
step p { PREPARE TRANSACTION 'acidtest-spec'; }
step c { COMMIT PREPARED 'acidtest-spec'; }
step r { SELECT a FROM t; }
"""


@pytest.mark.live("postgres@18")
def test_two_phase_commit_can_be_tested(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two-phase.spec"
    path.write_text(TWO_PHASE)
    ran = run(path, "-t", "postgres@18", "--oracle", "none")
    assert ran.code == 0
    assert "/* s */ SELECT a FROM t;" in ran.out
    assert "-- (1)" in ran.out
    assert "error" not in ran.out


@pytest.mark.live("postgres@18")
def test_problems_are_one_sentence(run: Run, specs: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    broken = specs / "specs" / "broken.spec"
    broken.write_text("session s\nstep a { SELECT 1; }\npermutation b\n")
    case = tmp_path / "case.sql"
    case.write_text("-- schedule\n/* a */ SELECT 1;\n")
    for arguments, sentence in (
        ((specs,), f"{broken}:3:13: expected the name of a step that is defined above, found `b`"),
        ((broken,), f"{broken}:3:13: expected the name of a step that is defined above, found `b`"),
        ((tmp_path / "empty",), "holds no isolation specs (*.spec)"),
        ((FOLDER, case), "case.sql is no isolation spec"),
        ((case, "--compare", FOLDER), "--compare is for isolation specs"),
        (
            (FOLDER / "specs" / "all-orders.spec", "--compare", tmp_path),
            "no recorded output all-orders.out in",
        ),
        ((FOLDER / "specs" / "all-orders.spec#7",), "all-orders.spec has permutations 1 to 6, and no 7"),
        ((FOLDER, "-t", "sqlite"), "isolation specs are written for PostgreSQL, and sqlite is sqlite"),
    ):
        ran = run(*arguments)
        assert ran.code == 2, arguments
        assert sentence in ran.err.replace("\n", " ")
        assert "Traceback" not in ran.err
