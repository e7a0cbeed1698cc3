"""What a campaign makes of its violations: findings, sightings at new places, duplicates with samples."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest.campaign.casebook import (
    DUPLICATE,
    FINDING,
    SAMPLES_MAX,
    SIGHTING,
    UNCONFIRMED,
    UNREDUCED,
    Casebook,
)
from acidtest.campaign.messages import Decision, Found, Sighted, Suspected
from acidtest.campaign.plan import Settings
from acidtest.campaign.store import FILE, FIRST_FORMAT, Store, recorded
from acidtest.findings.finding import Finding
from acidtest.model import Known, Status
from tests.unit.found import planted

SETTINGS = Settings(("simulated",), (), (), "simple", 7)


@pytest.fixture(scope="module")
def finding() -> Finding:
    return planted("dirty-read")


def suspect(finding: Finding, case: str, *, level: str = "RC", target: str = "simulated") -> Suspected:
    assert finding.identity is not None
    return Suspected(target, level, case, finding.identity, f"-- {case}\n")


def decide(book: Casebook, one: Suspected) -> Decision:
    return book.decide(one, stopping=False, spent=0.0, seconds=1.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "out", SETTINGS)


@pytest.fixture
def book(store: Store, finding: Finding) -> Casebook:
    """With one finding, seen at READ COMMITTED."""
    book = Casebook(store)
    first = suspect(finding, "case-1")
    assert decide(book, first) is Decision.INVESTIGATE
    book.investigated(Found(finding, first), 1.0)
    return book


def test_a_repeat_where_it_was_seen_is_a_duplicate(book: Casebook, finding: Finding) -> None:
    assert decide(book, suspect(finding, "case-2")) is Decision.PASS_BY
    assert book.became == {FINDING: 1, DUPLICATE: 1}


def test_a_finding_that_did_not_show_again_gets_a_better_case(store: Store, finding: Finding) -> None:
    book = Casebook(store)
    first = suspect(finding, "case-1")
    book.investigated(Found(replace(finding, shown=0), first), 1.0)
    assert book.lines[0].flaky == "0 of 10"
    again = suspect(finding, "case-2")
    assert decide(book, again) is Decision.INVESTIGATE
    book.investigated(Found(finding, again), 5.0)
    assert [(line.number, line.flaky, line.seconds) for line in book.lines] == [(1, "", 1.0)]
    assert decide(book, suspect(finding, "case-3")) is Decision.PASS_BY
    assert [line.flaky for line in Casebook(store).lines] == [""]


def test_better_cases_are_looked_for_less_and_less_often(store: Store, finding: Finding) -> None:
    unseen = replace(finding, shown=0)
    book = Casebook(store)
    book.investigated(Found(unseen, suspect(finding, "case-0")), 1.0)
    looked_at = []
    for number in range(1, 9):
        one = suspect(finding, f"case-{number}")
        if decide(book, one) is Decision.INVESTIGATE:
            looked_at.append(number)
            book.investigated(Found(unseen, one), 2.0)
    assert looked_at == [1, 2, 4, 8]


@pytest.mark.parametrize(("level", "target"), [("SER", "simulated"), ("RC", "another")])
def test_where_it_was_not_seen_yet_it_is_never_just_a_duplicate(
    book: Casebook, finding: Finding, level: str, target: str
) -> None:
    new = suspect(finding, "case-2", level=level, target=target)
    assert decide(book, new) is Decision.CONFIRM
    book.sighted(Sighted(new, again=True), 2.0)
    assert book.became == {FINDING: 1, SIGHTING: 1}
    assert decide(book, suspect(finding, "case-3", level=level, target=target)) is Decision.PASS_BY
    assert book.duplicates == 2
    assert len(book.lines) == 1


def test_a_sighting_that_does_not_show_again_is_told(book: Casebook, finding: Finding) -> None:
    new = suspect(finding, "case-2", level="SER")
    book.sighted(Sighted(new, again=False), 2.0)
    assert book.became[UNCONFIRMED] == 1


def test_an_explained_violation_is_the_finding_of_its_deviation(store: Store, finding: Finding) -> None:
    book = Casebook(store)
    assert finding.identity is not None
    known = Known("X-1", "x", Status.DOCUMENTED, "https://example.org")
    explained = replace(
        finding, identity=replace(finding.identity, explained_by=("X-1",)), explained_by=(known,)
    )
    book.investigated(Found(explained, suspect(explained, "case-1")), 1.0)
    other = replace(suspect(planted("own-write-unseen"), "case-2"), level="RC")
    alike = replace(other, signature=replace(other.signature, explained_by=("X-1",)))
    assert decide(book, alike) is Decision.PASS_BY
    assert decide(book, replace(other, case="case-3")) is Decision.INVESTIGATE
    assert [line.known for line in book.lines] == ["X-1"]


def test_sightings_and_samples_are_recorded(book: Casebook, finding: Finding, tmp_path: Path) -> None:
    for number in range(2, 8):
        decide(book, suspect(finding, f"case-{number}"))
    kept = recorded(tmp_path / "out")
    assert kept.sightings == {finding.digest: {("simulated", "RC"): 7}}
    assert [one.case for one in kept.samples] == [f"case-{number}" for number in range(1, SAMPLES_MAX + 1)]
    assert {one.number for one in kept.samples} == {1}
    assert kept.samples[1].text == "-- case-2\n"


def test_what_nobody_reduced_is_sampled_with_the_finding_it_looks_like(
    book: Casebook, finding: Finding, tmp_path: Path
) -> None:
    noisy = suspect(finding, "case-2")
    more = planted("own-write-unseen").identity
    assert more is not None
    signature = replace(noisy.signature, others=noisy.signature.others | more.own, own=more.own)
    for number in range(2, 6):
        decide(book, replace(noisy, case=f"case-{number}", signature=signature))
    assert book.became[UNREDUCED] > 0
    kept = recorded(tmp_path / "out")
    assert {one.digest for one in kept.samples} == {finding.digest, signature.digest}
    assert kept.sightings == {finding.digest: {("simulated", "RC"): 1}}, "unreduced: it is not sure"


def test_a_campaign_that_goes_on_knows_what_it_knew(
    store: Store, book: Casebook, finding: Finding, tmp_path: Path
) -> None:
    book.sighted(Sighted(suspect(finding, "case-2", level="SER"), again=True), 2.0)
    store.close()
    with Store.resume(tmp_path / "out") as again:
        resumed = Casebook(again)
        assert resumed.became == book.became
        assert decide(resumed, suspect(finding, "case-2", level="SER")) is Decision.PASS_BY
        assert decide(resumed, suspect(finding, "case-3", level="SER")) is Decision.PASS_BY
        assert decide(resumed, suspect(finding, "case-4", level="RR")) is Decision.CONFIRM


def test_a_campaign_of_the_first_format_goes_on(store: Store, tmp_path: Path) -> None:
    store.close()
    with closing(sqlite3.connect(tmp_path / "out" / FILE)) as database, database:
        database.execute("DROP TABLE samples")
        database.execute("ALTER TABLE violations DROP COLUMN level")
        database.execute("ALTER TABLE violations DROP COLUMN digest")
        database.execute("UPDATE about SET value = ? WHERE name = 'format'", (FIRST_FORMAT,))
        database.execute(
            "INSERT INTO violations VALUES ('case-1', 'simulated', 'wrong rows', 'duplicate', 1)"
        )
    assert recorded(tmp_path / "out").sightings == {}
    with Store.resume(tmp_path / "out") as again:
        assert Casebook(again).became == {DUPLICATE: 1}
    Store.resume(tmp_path / "out").close()
