"""`acidtest findings`: lists, shows, ids, reports, JSON, other targets, and every kind of bad input."""

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from acidtest.campaign.plan import Settings
from acidtest.campaign.store import Listed, Sample, Store, Violation
from acidtest.cli import main
from acidtest.findings import Finding, Sighting
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.finding import finding_from_json
from acidtest.model import Known, Status
from acidtest.model.trace import Fate
from acidtest.report.folder import read_finding, write_finding
from tests.unit.found import planted


class Result(NamedTuple):
    code: int
    out: str
    err: str


Acidtest = Callable[..., Result]


@pytest.fixture
def acidtest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Acidtest:
    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["acidtest", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return call


KNOWN = Known("MDEV-1", "a known bug", Status.CONFIRMED, "https://example.org/1")


@pytest.fixture(scope="module")
def unseen() -> Finding:
    return planted("own-write-unseen")


@pytest.fixture(scope="module")
def kept() -> Finding:
    return replace(planted("rollback-keeps-row"), explained_by=(KNOWN,), shown=3, seconds=200.0)


@pytest.fixture
def campaign(tmp_path: Path, unseen: Finding, kept: Finding) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "campaign.sqlite").touch()
    write_finding(tmp_path / "out" / "findings", 1, unseen)
    write_finding(tmp_path / "out" / "findings", 2, kept)
    return tmp_path / "out"


def test_the_list_has_a_line_for_each(acidtest: Acidtest, campaign: Path, unseen: Finding) -> None:
    result = acidtest("findings", campaign)
    assert result.code == 0
    first = next(line for line in result.out.splitlines() if unseen.digest in line)
    cells = [cell.strip() for cell in first.strip("│").split("│")]
    assert cells == [
        "1",
        unseen.digest,
        "a transaction does not see its own UPDATE",
        "NEW",
        "-",
        "simulated@own-write-unseen RR",
        "10/10",
        "41 s",
        f"001-{unseen.digest}",
    ]
    second = next(line for line in result.out.splitlines() if "MDEV-1" in line)
    assert "3/10" in second
    assert "3 min 20 s" in second
    assert f"acidtest findings {campaign} 1" in result.out


def test_a_folder_of_findings_lists_the_same(acidtest: Acidtest, campaign: Path) -> None:
    table = acidtest("findings", campaign).out.split("has a folder")[0]
    assert acidtest("findings", campaign / "findings").out.split("has a folder")[0] == table


@pytest.mark.parametrize("id_", ["1", "001", "digest", "short", "folder", "folder/", "DIGEST"])
def test_one_is_shown_by_any_of_its_names(
    acidtest: Acidtest, campaign: Path, unseen: Finding, id_: str
) -> None:
    folder = f"001-{unseen.digest}"
    names = {"digest": unseen.digest, "short": unseen.digest[:5], "folder": folder, "folder/": f"{folder}/"}
    result = acidtest("findings", campaign, names.get(id_, unseen.digest.upper() if id_ == "DIGEST" else id_))
    assert result.code == 0
    assert result.out.startswith("1. REPEATABLE READ: a transaction does not see its own UPDATE\n")


def test_what_is_shown_is_all_one_needs(
    acidtest: Acidtest, campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(campaign.parent)
    result = acidtest("findings", "out", "2")
    folder = next(Path("out/findings").glob("002-*"))
    finding = read_finding(folder)
    assert finding.observed in result.out
    for paragraph in finding.explanation:
        assert paragraph in result.out
    assert "shows in 3 of 10 runs (flaky)" in result.out
    assert "simulated@rollback-keeps-row 1.0, explained by MDEV-1 (confirmed)\n" in result.out
    assert "levels: not tried" in result.out
    assert f"report: {folder}/report.md\n" in result.out
    replay = f"acidtest run {folder}/minimal.sql --target simulated@rollback-keeps-row --level SER"
    assert result.out.endswith(f"replay: {replay}\n")
    assert acidtest(*replay.split()[1:]).code == 1


def test_a_finding_itself_may_be_named(acidtest: Acidtest, campaign: Path, unseen: Finding) -> None:
    folder = campaign / "findings" / f"001-{unseen.digest}"
    assert acidtest("findings", folder).out.startswith("1. REPEATABLE READ")


def test_where_else_it_shows_is_shown(acidtest: Acidtest, tmp_path: Path, unseen: Finding) -> None:
    sightings = (
        Sighting("mysql@9.7", "9.7.4", "RR", "shows"),
        Sighting("sqlite", "3", "RR", "not run", "why"),
    )
    write_finding(tmp_path, 1, replace(unseen, elsewhere=sightings))
    out = acidtest("findings", tmp_path, "1").out
    assert "mysql@9.7 RR                 shows\n" in out
    assert "not run (why)\n" in out


def test_the_report_is_printed_as_it_is_stored(acidtest: Acidtest, campaign: Path) -> None:
    first, second = sorted((campaign / "findings").glob("*/report.md"))
    assert acidtest("findings", campaign, "2", "--report").out == second.read_text()
    both = acidtest("findings", campaign, "--report").out
    assert both == f"{first.read_text()}\n---\n\n{second.read_text()}"
    first.unlink()
    missing = acidtest("findings", campaign, "1", "--report")
    assert missing.code == 2
    assert missing.err.count("\n") == 1


def test_json_has_everything(acidtest: Acidtest, campaign: Path, unseen: Finding) -> None:
    data = json.loads(acidtest("findings", campaign, "--json").out)
    assert data["format"] == "acidtest-findings/1"
    first, second = data["findings"]
    folder = campaign / "findings" / f"001-{unseen.digest}"
    assert first["number"] == 1
    assert first["folder"] == str(folder)
    assert first["title"] == "REPEATABLE READ: a transaction does not see its own UPDATE"
    assert first["replay"].startswith(f"acidtest run {folder}/minimal.sql --target")
    assert finding_from_json(first) == unseen
    assert [one["id"] for one in second["explained_by"]] == ["MDEV-1"]
    one = json.loads(acidtest("findings", campaign, "2", "--json").out)
    assert one["findings"] == [second]


def test_elsewhere_is_run_and_stored(acidtest: Acidtest, campaign: Path, kept: Finding) -> None:
    result = acidtest("findings", campaign, "2", "--elsewhere", "-t", "sqlite", "-t", "mariadb@0.1")
    assert result.code == 0
    assert f"{kept.digest} on sqlite" in result.err
    folder = next((campaign / "findings").glob("002-*"))
    seen = {one.target: one.found for one in read_finding(folder).elsewhere}
    assert seen == {"sqlite": "does not show", "mariadb@0.1": "not run"}
    assert "| sqlite |" in (folder / "report.md").read_text()
    acidtest("findings", campaign, "--elsewhere", "-t", "sqlite")
    assert [one.target for one in read_finding(folder).elsewhere] == ["mariadb@0.1", "sqlite"]
    other = next((campaign / "findings").glob("001-*"))
    assert [(one.target, one.found) for one in read_finding(other).elsewhere] == [("sqlite", "not run")]


def test_the_latest_word_on_a_server_counts_whatever_it_was_called(
    acidtest: Acidtest, campaign: Path, kept: Finding
) -> None:
    folder = next((campaign / "findings").glob("002-*"))
    old = (Sighting("simulated@x", "1.0", "SER", "shows"), Sighting("mysql@9.7", "1.0", "SER", "shows"))
    write_finding(campaign / "findings", 2, replace(kept, version="0.9", elsewhere=old))
    acidtest("findings", campaign, "2", "--elsewhere", "-t", "simulated")
    seen = [(one.target, one.found) for one in read_finding(folder).elsewhere]
    assert seen == [("mysql@9.7", "shows"), ("simulated", "does not show")]


def test_text_from_a_dbms_is_not_read_as_markup(acidtest: Acidtest, tmp_path: Path, unseen: Finding) -> None:
    odd = replace(unseen, target="[bold]1[/bold]\x1b[31m", resembles=("[red]x",))
    write_finding(tmp_path, 1, odd)
    listed, shown = acidtest("findings", tmp_path).out, acidtest("findings", tmp_path, "1").out
    assert "[bold]1[/bold]\\x1b[31m" in listed
    assert "[red]x" in listed
    assert "[bold]1[/bold]\\x1b[31m" in shown
    assert "\x1b" not in listed + shown


@pytest.mark.parametrize("content", ["campaign.sqlite", None])
def test_nothing_found_is_said_and_is_no_error(
    acidtest: Acidtest, tmp_path: Path, content: str | None
) -> None:
    if content:
        (tmp_path / content).touch()
    result = acidtest("findings", tmp_path)
    assert (result.code, result.out) == (0, f"no findings in {tmp_path}\n")
    assert json.loads(acidtest("findings", tmp_path, "--json").out)["findings"] == []
    assert acidtest("findings", tmp_path, "--report").out == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gone"], "gone is not there"),
        (["file"], "file is no directory"),
        (["foreign"], "foreign is neither the directory of a campaign nor a folder of findings"),
        (["."], "neither the directory of a campaign nor a folder of findings"),
        (["out", "3"], "no finding '3'; there are 001-"),
        (["out", "zzz"], "no finding 'zzz'"),
        (["out", ""], "no finding ''"),
        (["out", "99999999999999999999"], "no finding '9999"),
        (["out", "²"], "no finding '²'"),
        (["out", "--json", "--report"], "exclude each other"),
        (["out", "-t", "sqlite"], "add --elsewhere"),
        (["out", "--elsewhere", "-t", "oracle"], "unknown target 'oracle'"),
    ],
)
def test_bad_input_is_one_sentence(
    acidtest: Acidtest,
    campaign: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(campaign.parent)
    Path("file").touch()
    Path("foreign").mkdir()
    Path("foreign/notes.txt").touch()
    result = acidtest("findings", *arguments)
    assert result.code == 2
    assert complaint in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


def test_an_id_that_means_several_names_them(acidtest: Acidtest, tmp_path: Path, unseen: Finding) -> None:
    for number in (1, 2):
        write_finding(tmp_path, number, unseen)
    result = acidtest("findings", tmp_path, unseen.digest)
    assert result.code == 2
    assert f"could be any of 001-{unseen.digest}, 002-{unseen.digest}; say which" in result.err


# -- causes, samples, baseline


def variant(finding: Finding) -> Finding:
    assert finding.identity is not None
    identity = replace(finding.identity, others=frozenset({Deed(Act.INSERT, Fate.COMMITTED)}))
    return replace(finding, identity=identity, digest=identity.digest, level="RC")


def test_variants_of_a_cause_stand_in_one_line(acidtest: Acidtest, campaign: Path, unseen: Finding) -> None:
    write_finding(campaign / "findings", 3, variant(unseen))
    out = acidtest("findings", campaign).out
    first = next(line for line in out.splitlines() if unseen.digest in line)
    cells = [cell.strip() for cell in first.strip("\u2502").split("\u2502")]
    assert cells[4:6] == ["3", "simulated@own-write-unseen RC, RR"]
    assert variant(unseen).digest not in out
    assert "2 causes, 3 with all variants" in out
    assert acidtest("findings", campaign, "3").code == 0


def test_a_campaign_says_where_and_how_often_and_keeps_samples(
    acidtest: Acidtest, tmp_path: Path, unseen: Finding
) -> None:
    folder = write_finding(tmp_path / "out" / "findings", 1, unseen)
    with closing(Store._open(tmp_path / "out")) as store:
        store._make_tables(Settings(("simulated",), (), (), "simple", 7))
        listed = Listed(1, "simulated", unseen.digest, 1.0, folder.name)
        for number, level in enumerate(["RR", "RR", "RC"]):
            violation = Violation(f"case-{number}", "simulated", "s", "duplicate", level, unseen.digest)
            sample = Sample(1, unseen.digest, "in words", f"case-{number}", f"-- the case {number}\n")
            store.violated(violation, 1.0, listed if number == 0 else None, sample)
    out = acidtest("findings", tmp_path / "out").out
    assert "simulated RC, RR (2)" in out
    samples = acidtest("findings", tmp_path / "out", "1", "--samples").out
    assert samples.startswith(f"-- {unseen.digest}: in words\n")
    assert [f"-- the case {number}" in samples for number in range(4)] == [True, True, True, False]
    assert "needs a campaign and the ID" in acidtest("findings", tmp_path / "out", "--samples").err


def test_a_baseline_hides_what_was_found_before(
    acidtest: Acidtest, campaign: Path, tmp_path: Path, unseen: Finding
) -> None:
    file = tmp_path / "known.json"
    assert acidtest("findings", campaign, "--write-baseline", file).code == 0
    for before in (file, campaign):
        again = acidtest("findings", campaign, "--baseline", before)
        assert (again.code, again.out) == (0, f"no findings in {campaign}\n")
    write_finding(campaign / "findings", 3, variant(unseen))
    assert acidtest("findings", campaign, "--baseline", file).code == 0
    write_finding(campaign / "findings", 4, planted("dirty-read"))
    later = acidtest("findings", campaign, "--baseline", file)
    assert later.code == 1
    assert unseen.digest not in later.out
    assert "what is not committed" in later.out
    assert acidtest("findings", campaign, "--baseline", tmp_path / "gone").code == 2


def test_what_is_explained_can_be_left_out(acidtest: Acidtest, campaign: Path, kept: Finding) -> None:
    assert kept.digest in acidtest("findings", campaign).out
    assert kept.digest not in acidtest("findings", campaign, "--ignore-known").out
