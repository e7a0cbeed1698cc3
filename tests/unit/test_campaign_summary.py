"""The end of a campaign: JSON with every documented field, and a few lines that lead to the first finding."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest.campaign.statistics import DEFECT, Statistics
from acidtest.campaign.summary import FORMAT, text, to_json
from acidtest.findings.baseline import baseline_of
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.finding import Finding
from acidtest.findings.parts import WrongCount
from acidtest.findings.signature import Signature
from acidtest.model import Known, Status, ViolationKind
from acidtest.model.trace import Fate
from tests.unit.campaign_views import MARKUP, first, middle

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"

MINIMAL = """-- id: minimal
-- setup
CREATE TABLE t (a INT);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
"""

KNOWN = Known("MDEV-26642", "same-value update", Status.CONFIRMED, "https://x.org/")
FINDING = Finding(
    signature="wrong rows at plain read after own update",
    digest="0badcafe",
    kind="wrong rows",
    target="mariadb@10.11",
    dbms="mariadb",
    version="10.11.19-MariaDB",
    settings={},
    level="RR",
    oracles=("solver", "views"),
    summary=MARKUP,
    minimal=MINIMAL,
    observed=MINIMAL,
    original=MINIMAL,
    verdicts=(),
    explanation=(),
    shown=10,
    runs=10,
    reduction="12 to 3 statements",
    explained_by=(KNOWN,),
    seconds=41.25,
)
FLAKY = replace(FINDING, explained_by=(), level="mixed", shown=3, resembles=("MDEV-32898",))
STORED = ((Path("my out/findings/001-0badcafe"), FINDING), (Path("my out/findings/002-0badcafe"), FLAKY))


def documented_fields(heading: str, next_heading: str) -> set[str]:
    """Names in the first columns of the tables between two lines of docs/json.md."""
    page = DOCUMENT.read_text(encoding="utf-8")
    section = page.split(heading, 1)[1].split(next_heading, 1)[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_summary_has_exactly_the_documented_fields() -> None:
    document = to_json(middle(), STORED, stopped="time", exit_code=1)
    assert set(document) == documented_fields("## `acidtest fuzz", "A FINDING")
    assert set(document["findings"][0]) == documented_fields("A FINDING", "\n## ")


def test_the_summary_is_json_and_says_what_happened() -> None:
    document = to_json(middle(), STORED, stopped="time", exit_code=1)
    assert json.loads(json.dumps(document)) == document
    assert document["format"] == FORMAT == "acidtest-fuzz/1"
    assert document["targets"] == [{"spec": "mariadb@10.11", "version": "10.11.19-MariaDB"}]
    assert (document["stopped"], document["exit_code"], document["workers"]) == ("time", 1, 2)
    assert (document["cases"], document["judged"], sum(document["undecided"].values())) == (
        12_345,
        12_270,
        75,
    )
    assert document["cases_per_minute"] == pytest.approx(10_581.4)
    assert document["verdicts"] == {
        "solver": {"pass": 12_250, "violation": 19, "unknown": 76},
        "views": {"pass": 0, "violation": 0, "unknown": 0},
        "crash": {"pass": 12_345, "violation": 0, "unknown": 0},
    }
    assert (document["new"], document["known"], document["duplicates"], document["unreduced"]) == (
        1,
        1,
        14,
        2,
    )


def test_a_finding_in_the_summary() -> None:
    known, flaky = to_json(middle(), STORED, stopped="time", exit_code=1)["findings"]
    assert known["replay"] == (
        "acidtest run 'my out/findings/001-0badcafe/minimal.sql' --target mariadb@10.11 --level RR"
    )
    assert (known["status"], known["flaky"]) == ("explained by MDEV-26642 (confirmed)", None)
    assert known["explained_by"] == [
        {
            "id": "MDEV-26642",
            "title": "same-value update",
            "status": "confirmed",
            "link": "https://x.org/",
        }
    ]
    assert (known["in_baseline"], known["disagreement"]) == (False, None)
    assert (known["statements"], known["seconds"], known["summary"]) == (3, 41.25, MARKUP)
    assert known["folder"] == "my out/findings/001-0badcafe"
    assert flaky["flaky"] == {"shown": 3, "runs": 10}
    assert (flaky["status"], flaky["resembles"]) == ("NEW, resembles MDEV-32898", ["MDEV-32898"])
    assert "--level" not in flaky["replay"]


def test_a_folder_that_looks_like_an_option_is_written_as_a_path() -> None:
    stored = [(Path("-dash/findings/001-0badcafe"), FINDING)]
    (finding,) = to_json(middle(), stored, stopped="time", exit_code=1)["findings"]
    assert finding["replay"].startswith("acidtest run ./-dash/findings/001-0badcafe/minimal.sql ")
    assert " run ./-dash/" in text(middle(), stored, stopped="time")


def test_defects_of_ours_are_told() -> None:
    view = replace(middle(), statistics=Statistics(cases=5, undecided=Counter({DEFECT: 3})))
    assert to_json(view, (), stopped="time", exit_code=70)["defects"] == 3
    assert "cases with defects of acidtest: 3; see errors.log" in text(view, (), stopped="time")


def test_a_table_can_be_had_in_ascii() -> None:
    assert not text(middle(), STORED, stopped="time").isascii()
    assert text(middle(), STORED, stopped="time", ascii_only=True).isascii()


def test_a_campaign_that_did_nothing_has_a_summary() -> None:
    document = to_json(first(), (), stopped="interrupted", exit_code=0)
    assert json.loads(json.dumps(document)) == document
    assert (document["cases"], document["cases_per_minute"], document["findings"]) == (0, 0.0, [])
    assert document["targets"] == [{"spec": "mariadb@10.11", "version": None}]
    printed = text(first(), (), stopped="interrupted")
    assert printed.startswith("0 cases in 00:00:00, 0 a minute; ended by: interrupted; seed 1; folder out\n")
    assert printed.endswith("No findings.\n")


def test_the_text_ends_with_the_way_to_the_first_finding() -> None:
    lines = text(middle(), STORED, stopped="time", width=100).splitlines()
    assert lines[-2:] == [
        "Replay the first one:  acidtest run 'my out/findings/001-0badcafe/minimal.sql'"
        " --target mariadb@10.11 --level RR",
        "Its report:            my out/findings/001-0badcafe/report.md",
    ]


def test_the_text_says_what_was_done_and_found() -> None:
    printed = text(replace(middle(), crashes=1), STORED, stopped="time", width=200)
    for part in (
        "12,345 cases in 00:01:10, 10,581 a minute; ended by: time; seed 4711; folder out",
        "judged 99.4%; blocked 41%; conflicting 89%; deadlocks 120; rejected 0.2% of 123,456 statements",
        "undecided 75: 50 the evaluator does not know [b]JSON[/b]; 20 foreign keys; 5 SET\n",
        "servers that died: 1; workers that died: 0",
        "findings: 1 new, 1 known, 16 duplicate",
        "[bold red]wrong[/bold red] rows at SELECT '[/]'",
        "(flaky: 3 of 10 runs)",
    ):
        assert part in printed
    assert "\x1b" not in printed
    rows = [line for line in printed.splitlines() if line.startswith("00")]
    assert ["MDEV-26642" in row for row in rows] == [True, False]
    assert ["MDEV-32898" in row for row in rows] == [False, True]


def test_what_was_found_before_is_told() -> None:
    before = baseline_of([FINDING])
    document = to_json(middle(), STORED, stopped="time", exit_code=0, before=before)
    assert [one["in_baseline"] for one in document["findings"]] == [True, True]
    assert "in the baseline: 2 of 2" in text(middle(), STORED, stopped="time", before=before)


def test_variants_of_one_cause_stand_in_one_line() -> None:
    deed = Deed(Act.UPDATE, Fate.COMMITTED)
    one = Signature(ViolationKind.WRONG_AFFECTED_COUNT, WrongCount(True))
    variants = [replace(FINDING, identity=one), replace(FLAKY, identity=replace(one, own=frozenset({deed})))]
    stored = list(zip([folder for folder, _ in STORED], variants, strict=True))
    printed = text(middle(), stored, stopped="time", width=200)
    assert "2 findings of 1 causes; the first of each:" in printed
    assert "001-0badcafe and 1 variant" in printed
    assert "002-0badcafe" not in printed
    assert to_json(middle(), stored, stopped="time", exit_code=1)["causes"] == 1


def test_disagreements_and_conflicts_without_a_reason_are_told() -> None:
    view = replace(middle(), statistics=Statistics(cases=5, disagreements=2, unexplained_conflicts=3))
    document = to_json(view, (), stopped="time", exit_code=0)
    assert (document["disagreements"], document["unexplained_conflicts"]) == (2, 3)
    printed = text(view, (), stopped="time")
    assert "cases about which oracles disagree: 2" in printed
    assert "conflict errors without a reason: 3" in printed


@pytest.mark.parametrize("width", [80, 100])
def test_the_table_keeps_to_the_width(width: int) -> None:
    lines = text(middle(), STORED, stopped="time", width=width).splitlines()
    table = lines[lines.index("") + 1 : -2]
    assert any("MDEV-26642" in line for line in table)
    assert max(map(len, table)) <= width
