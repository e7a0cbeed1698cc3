"""Findings by cause, and a baseline that a later campaign is held against."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest.errors import UsageError
from acidtest.findings.baseline import FORMAT, Baseline, baseline_of, read_baseline, write_baseline
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.finding import Finding
from acidtest.findings.groups import grouped
from acidtest.model.trace import Fate
from tests.unit.found import planted


@pytest.fixture(scope="module")
def dirty() -> Finding:
    return planted("dirty-read")


@pytest.fixture(scope="module")
def unseen() -> Finding:
    return planted("own-write-unseen")


def variant(finding: Finding) -> Finding:
    """The same after something else."""
    assert finding.identity is not None
    more = finding.identity.others | {Deed(Act.DELETE, Fate.COMMITTED)}
    identity = replace(finding.identity, others=more)
    return replace(finding, identity=identity, digest=identity.digest)


def explained(finding: Finding, name: str) -> Finding:
    assert finding.identity is not None
    identity = replace(finding.identity, explained_by=(name,))
    return replace(finding, identity=identity, digest=identity.digest)


def test_variants_are_in_one_group_and_other_causes_in_others(dirty: Finding, unseen: Finding) -> None:
    stored = [(Path("1"), dirty), (Path("2"), unseen), (Path("3"), variant(dirty))]
    assert [[folder.name for folder, _ in one.variants] for one in grouped(stored)] == [["1", "3"], ["2"]]


def test_what_one_deviation_explains_is_one_group_whatever_it_looks_like(
    dirty: Finding, unseen: Finding
) -> None:
    stored = [
        (Path("1"), explained(dirty, "X-1")),
        (Path("2"), dirty),
        (Path("3"), explained(unseen, "X-1")),
        (Path("4"), explained(unseen, "X-2")),
    ]
    groups = [[folder.name for folder, _ in one.variants] for one in grouped(stored)]
    assert groups == [["1", "3"], ["2"], ["4"]]


def test_one_that_the_oracles_agree_upon_stands_for_its_cause(dirty: Finding) -> None:
    doubted = replace(variant(dirty), disagreement="solver found a violation, views did not")
    (group,) = grouped([(Path("1"), doubted), (Path("2"), dirty)])
    assert (group.folder, group.first) == (Path("2"), dirty)
    assert group.others == ((Path("1"), doubted),)


def test_findings_of_older_versions_stand_alone(dirty: Finding) -> None:
    old = replace(dirty, identity=None)
    assert len(grouped([(Path("1"), old), (Path("2"), old)])) == 2


def test_a_baseline_has_the_causes_that_were_found(dirty: Finding, unseen: Finding, tmp_path: Path) -> None:
    write_baseline(tmp_path / "known.json", baseline_of([dirty]))
    before = read_baseline(tmp_path / "known.json")
    assert before.has(dirty)
    assert before.has(variant(dirty))
    assert before.has(replace(dirty, level="SER", target="elsewhere"))
    assert not before.has(unseen)
    assert not before.has(explained(unseen, "X-1"))
    assert not Baseline().has(dirty)


def test_an_older_finding_is_known_by_its_digest(dirty: Finding) -> None:
    old = replace(dirty, identity=None)
    assert baseline_of([old]).has(old)
    assert not baseline_of([old]).has(replace(old, digest="00000000"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is damaged: it is not JSON"),
        ("[]", "is not of the format"),
        (json.dumps({"format": "x"}), "is not of the format"),
        (json.dumps({"format": FORMAT, "causes": [3], "digests": []}), "is damaged: "),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(UsageError, match=complaint):
        read_baseline(tmp_path / "b.json")


def test_a_baseline_that_is_not_there_is_refused(tmp_path: Path, dirty: Finding) -> None:
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        read_baseline(tmp_path / "b.json")
    with pytest.raises(UsageError, match="cannot be written: no such file"):
        write_baseline(tmp_path / "gone" / "b.json", baseline_of([dirty]))
