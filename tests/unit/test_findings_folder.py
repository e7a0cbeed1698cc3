"""Findings on disk: whole or not at all, read back as they were, all damage told with its place."""

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acidtest.casefile import load_case, parse_case
from acidtest.errors import UsageError
from acidtest.findings import Finding, Sighting
from acidtest.report import folder
from acidtest.report.findings import report
from acidtest.report.folder import DATA, read_finding, read_findings, rewrite, write_finding
from tests.unit.found import planted


@pytest.fixture(scope="module")
def finding() -> Finding:
    return planted("own-write-unseen")


def names(parent: Path) -> list[str]:
    return sorted(one.name for one in parent.iterdir())


def dead_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_folder_holds_the_case_the_run_the_report_and_the_data(tmp_path: Path, finding: Finding) -> None:
    stored = write_finding(tmp_path / "out" / "findings", 7, finding)
    assert stored == tmp_path / "out" / "findings" / f"007-{finding.digest}"
    assert names(stored) == ["finding.json", "minimal.sql", "observed.sql", "original.sql", "report.md"]
    assert load_case(stored / "minimal.sql") == parse_case(finding.minimal, "minimal.sql")
    observed = load_case(stored / "observed.sql")
    assert [step.sql for step in observed.steps] == [
        step.sql for step in load_case(stored / "minimal.sql").steps
    ]
    assert read_finding(stored) == finding


def test_all_that_a_finding_can_say_is_read_back(tmp_path: Path, finding: Finding) -> None:
    seen = (Sighting("mysql@9.7", "9.7.4", "RR", "not run", "a\nb"),)
    full = replace(
        finding, levels=seen, elsewhere=seen, resembles=("A-1", "B-2"), settings={"a": "b"}, seed=None
    )
    odd = replace(full, log="\udc80 \x00 \u2028 \U0001f600", summary="`|<b>")
    stored = write_finding(tmp_path, 1, odd)
    assert read_finding(stored) == odd


def test_a_full_disk_leaves_nothing_half_there(
    tmp_path: Path, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = folder._files

    def running_full(finding: Finding) -> Iterator[tuple[str, bytes]]:
        yield from list(files(finding))[:3]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder, "_files", running_full)
    with pytest.raises(UsageError, match=rf"001-{finding.digest} cannot be written: no space left on device"):
        write_finding(tmp_path, 1, finding)
    assert names(tmp_path) == []


def test_a_parent_that_cannot_be_made_is_one_sentence(tmp_path: Path, finding: Finding) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/findings/001-.* cannot be written: not a directory"):
        write_finding(tmp_path / "file" / "findings", 1, finding)


def test_what_a_killed_writer_left_is_swept_and_a_living_one_is_left_alone(
    tmp_path: Path, finding: Finding
) -> None:
    dead, living = f".writing-{dead_process()}-001-x", f".writing-{os.getppid()}-002-x"
    for name in (dead, living):
        (tmp_path / name).mkdir()
        (tmp_path / name / "minimal.sql").write_text("half")
    assert read_findings(tmp_path) == []
    stored = write_finding(tmp_path, 3, finding)
    assert names(tmp_path) == [living, stored.name]


def test_a_finding_that_is_found_again_replaces_itself(tmp_path: Path, finding: Finding) -> None:
    write_finding(tmp_path, 1, finding)
    again = replace(finding, seconds=99.0)
    assert read_finding(write_finding(tmp_path, 1, again)) == again
    assert len(names(tmp_path)) == 1


def test_what_became_known_since_is_stored_with_its_report(tmp_path: Path, finding: Finding) -> None:
    stored = write_finding(tmp_path, 1, finding)
    left = stored / f".writing-{dead_process()}-report.md"
    left.write_text("half")
    more = replace(finding, elsewhere=(Sighting("mysql@9.7", "9.7.4", "RR", "shows"),))
    rewrite(stored, more)
    assert read_finding(stored) == more
    assert "| mysql@9.7 | 9.7.4 | RR | shows |" in (stored / "report.md").read_text()
    assert not left.exists()


def test_a_rewrite_that_fails_keeps_the_data_as_they_were(
    tmp_path: Path, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = write_finding(tmp_path, 1, finding)
    before = names(stored)

    def failing(self: Path, target: Path) -> Path:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(UsageError, match="quota"):
        rewrite(stored, replace(finding, seconds=1.0))
    assert read_finding(stored) == finding
    assert names(stored) == before


def test_findings_come_in_the_order_of_their_numbers(tmp_path: Path, finding: Finding) -> None:
    for number in (1000, 2, 999):
        write_finding(tmp_path, number, finding)
    (tmp_path / "README.txt").write_text("not a folder")
    assert [folder.number_of(path) for path, _ in read_findings(tmp_path)] == [2, 999, 1000]


def test_foreign_folders_are_passed_by(tmp_path: Path, finding: Finding) -> None:
    write_finding(tmp_path, 1, finding)
    (tmp_path / "photos").mkdir()
    assert [path.name for path, _ in read_findings(tmp_path)] == [f"001-{finding.digest}"]


def test_a_finding_may_be_renamed(tmp_path: Path, finding: Finding) -> None:
    write_finding(tmp_path, 1, finding).rename(tmp_path / "my bug")
    ((path, read),) = read_findings(tmp_path)
    assert (path.name, folder.number_of(path), read) == ("my bug", None, finding)


def test_a_folder_without_data_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "001-abc").mkdir()
    with pytest.raises(UsageError, match=r"001-abc is no finding, there is no finding\.json in it"):
        read_finding(tmp_path / "001-abc")


def test_fields_of_later_versions_are_passed_by(tmp_path: Path, finding: Finding) -> None:
    path = write_finding(tmp_path, 1, finding) / DATA
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"levels": [SIGHTING | {"colour": "red"}], "mood": "good"}))
    assert read_finding(path.parent).levels == (Sighting(**SIGHTING),)


FIRST_VERSION = {
    "format": "acidtest-finding/1",
    "signature": "wrong rows at plain read after update still open",
    "digest": "0badcafe",
    "parts": {"kind": "wrong rows", "statement": "plain read", "waited": False, "causes": ["update"]},
    "kind": "wrong rows",
    "target": "mariadb@10.11",
    "dbms": "mariadb",
    "version": "10.11.6",
    "settings": {},
    "level": "RC",
    "oracles": ["solver"],
    "summary": "wrong rows at tx2 SELECT * FROM t",
    "minimal": "-- id: x\n-- schedule\n/* tx1 */ SELECT 1;\n",
    "observed": "-- id: x\n-- schedule\n/* tx1 */ SELECT 1;\n",
    "original": "-- id: x\n-- schedule\n/* tx1 */ SELECT 1;\n",
    "verdicts": [{"oracle": "solver", "verdict": "violation", "kind": "wrong rows", "statement": 0}],
    "explanation": ["It is wrong."],
    "shown": 10,
    "runs": 10,
    "reduction": "none",
    "known": ["MDEV-1"],
    "behaviour": "semi-consistent read",
    "behaviour_link": "https://example.org",
    "levels": [],
    "elsewhere": [],
    "seed": 7,
    "case": "7-1",
    "seconds": 1.5,
    "broken_off": "",
    "log": "",
    "acidtest": "0.1.0",
}


def test_a_finding_of_the_first_version_can_be_read_and_is_not_called_known(tmp_path: Path) -> None:
    folder_ = tmp_path / "001-0badcafe"
    folder_.mkdir()
    (folder_ / DATA).write_text(json.dumps(FIRST_VERSION))
    old = read_finding(folder_)
    assert (old.digest, old.level, old.identity, old.run) == ("0badcafe", "RC", None, None)
    assert old.resembles == ("MDEV-1", "semi-consistent read")
    assert not old.is_explained
    assert report(old).startswith("# READ COMMITTED: wrong rows at tx2")


def without(name: str) -> Any:
    return lambda data: data.pop(name)


def changed(**values: object) -> Any:
    return lambda data: data.update(values)


SIGHTING = {"target": "a", "version": "1", "level": "RR", "found": "shows", "detail": ""}


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (without("digest"), "required field missing @ it.digest"),
        (without("format"), "not of the format acidtest-finding/2"),
        (changed(format="acidtest-finding/9"), "not of the format acidtest-finding/2"),
        (changed(shown="3"), "'3' is no int @ it.shown|it.shown"),
        (changed(shown=True), "it.shown"),
        (changed(seed="x"), "it.seed"),
        (changed(verdicts=[1]), "it.verdicts"),
        (changed(settings={"a": 1}), "it.settings"),
        (changed(levels=[SIGHTING | {"level": None}]), "it.levels"),
        (changed(identity={}), "it.identity"),
        (changed(run={"history": 1}), "it.run"),
        (changed(elsewhere=3), "it.elsewhere"),
    ],
)
def test_damaged_data_are_refused_with_their_place(
    tmp_path: Path, finding: Finding, damage: Any, complaint: str
) -> None:
    path = write_finding(tmp_path, 1, finding) / "finding.json"
    data = json.loads(path.read_text())
    damage(data)
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match=complaint) as told:
        read_findings(tmp_path)
    assert str(path) in str(told.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_refused_with_its_place(tmp_path: Path, finding: Finding, content: bytes) -> None:
    path = write_finding(tmp_path, 1, finding) / "finding.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is damaged: it is not JSON"):
        read_finding(path.parent)
