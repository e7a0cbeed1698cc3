"""What becomes of a finding on other targets: the five answers, and that no target stops the others."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from acidtest.casefile import load_case, parse_case
from acidtest.examine import Examiner
from acidtest.findings import Finding, Sighting
from acidtest.findings.signature import signature_of
from acidtest.investigation import elsewhere, trying
from acidtest.investigation.elsewhere import everywhere, other_specs
from acidtest.model import Level
from acidtest.simulated import case_file, fault_named
from acidtest.targets import Target
from acidtest.targets.resolve import open_target
from tests.unit.found import found, planted

ORACLES = ("solver", "views", "crash")

TWICE = parse_case(
    """\
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ UPDATE t SET v = 12 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
""",
    "twice",
)


def also_shows(finding: Finding, specs: Sequence[str], oracles: Sequence[str]) -> list[Sighting]:
    """What becomes of one finding on each of the targets but its own."""
    return [seen for _, seen in everywhere([finding], specs, oracles, lambda _what: None)]


def abroad(finding: Finding) -> Finding:
    """As if it came from another DBMS: all simulated engines have the same version."""
    return replace(finding, target="mariadb@0.9", dbms="mariadb", version="0.9")


@pytest.fixture(scope="module")
def unseen() -> Finding:
    return abroad(planted("own-write-unseen"))


def only(sightings: Sequence[Sighting]) -> Sighting:
    (one,) = sightings
    return one


def look(finding: Finding, spec: str, oracles: Sequence[str] = ORACLES) -> Sighting:
    return only(also_shows(finding, [spec], oracles))


def test_it_shows_where_the_same_fault_is(unseen: Finding) -> None:
    expected = Sighting("simulated@own-write-unseen", "1.0", "RR", "shows")
    assert look(unseen, "simulated@own-write-unseen") == expected


def test_it_does_not_show_where_all_is_well(unseen: Finding) -> None:
    assert look(unseen, "simulated") == Sighting("simulated", "1.0", "RR", "does not show")


def test_another_violation_is_not_the_same() -> None:
    finding = abroad(found(TWICE, "simulated@own-write-unseen"))
    seen = look(finding, "simulated@wrong-affected-count")
    assert seen.found == "another violation"
    assert seen.detail == "wrong affected count: too few at update or delete after own update"


def test_what_no_oracle_can_judge_is_undecided() -> None:
    finding = abroad(planted("rollback-keeps-row", Level.SERIALIZABLE))
    assert look(finding, "sqlite", ["none"]).found == "undecided"
    assert look(finding, "sqlite", ["solver", "views"]).found == "does not show"


def test_a_level_that_is_missing_is_not_run(unseen: Finding) -> None:
    seen = look(unseen, "sqlite")
    assert (seen.found, seen.level) == ("not run", "RR")
    assert "no isolation level REPEATABLE READ" in seen.detail


def test_a_set_up_that_is_refused_is_not_run(unseen: Finding) -> None:
    text = unseen.minimal.replace("v INT", "v ENUM('a') CHARACTER SET latin1")
    seen = look(replace(unseen, level="SER", minimal=text), "sqlite")
    assert seen.found == "not run"
    assert "refuses" in seen.detail


def test_a_statement_that_is_not_understood_is_not_run() -> None:
    finding = abroad(planted("rollback-keeps-row", Level.SERIALIZABLE))
    text = finding.minimal.replace("SELECT * FROM t", "SELECT * FROM t FOR UPDATE")
    assert text != finding.minimal
    seen = look(replace(finding, minimal=text), "sqlite")
    assert seen.found == "not run"
    assert "FOR UPDATE" in seen.detail


def test_mixed_levels_run_as_they_are_written(unseen: Finding) -> None:
    assert look(replace(unseen, level="mixed"), "simulated@own-write-unseen").found == "shows"


def test_targets_that_cannot_be_opened_do_not_stop_the_others(unseen: Finding) -> None:
    specs = ["mariadb@0.1", "mysql://root:secret@127.0.0.1:1/", "simulated"]
    seen = also_shows(unseen, specs, list(ORACLES))
    assert [(one.target, one.found) for one in seen] == [
        ("mariadb@0.1", "not run"),
        ("mysql://root@127.0.0.1:1/", "not run"),
        ("simulated", "does not show"),
    ]
    assert all(one.detail for one in seen[:2])
    assert "secret" not in repr(seen)


def test_its_own_target_is_left_out(unseen: Finding) -> None:
    at_home = planted("own-write-unseen")
    assert also_shows(at_home, ["simulated@own-write-unseen"], list(ORACLES)) == []
    renamed = replace(at_home, target="simulated@1")
    assert also_shows(renamed, ["simulated@own-write-unseen"], list(ORACLES)) == []
    other_mode = replace(at_home, target="simulated?mode=optimistic")
    assert look(other_mode, "simulated@own-write-unseen").found == "shows"


def test_every_target_is_opened_once(unseen: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    closed: list[str] = []

    def counting(spec: str) -> Target:
        opened.append(spec)
        target = open_target(spec)
        close = target.close

        def counting_close() -> None:
            closed.append(spec)
            close()

        monkeypatch.setattr(target, "close", counting_close)
        return target

    monkeypatch.setattr(elsewhere, "open_target", counting)
    told: list[str] = []
    specs = ["simulated", "simulated@own-write-unseen"]
    seen = list(everywhere([unseen, unseen, unseen], specs, ORACLES, told.append))
    assert opened == closed == specs
    assert [(place, one.found) for place, one in seen] == [
        *((place, "does not show") for place in range(3)),
        *((place, "shows") for place in range(3)),
    ]
    assert told[0] == "starting simulated"
    assert told[1] == f"{unseen.digest} on simulated"


@pytest.mark.parametrize(("shown", "found_", "tries"), [(2, "shows", 3), (5, "does not show", 1)])
def test_a_flaky_finding_is_tried_again(
    unseen: Finding, monkeypatch: pytest.MonkeyPatch, shown: int, found_: str, tries: int
) -> None:
    answers = iter([("does not show", ""), ("another violation", ""), ("shows", "")])
    asked: list[str] = []

    def seen_in_turn(_examined: object, digest: str) -> tuple[str, str]:
        asked.append(digest)
        return next(answers)

    monkeypatch.setattr(trying, "_seen_in", seen_in_turn)
    assert look(replace(unseen, shown=shown, runs=5), "simulated").found == found_
    assert len(asked) == tries


def test_of_several_tries_the_strongest_answer_counts(
    unseen: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([("another violation", "x"), ("undecided", ""), ("does not show", "")])
    monkeypatch.setattr(trying, "_seen_in", lambda *_: next(answers))
    seen = look(replace(unseen, shown=2, runs=3), "simulated")
    assert (seen.found, seen.detail) == ("another violation", "x")


def test_a_finding_of_any_oracle_is_recognised() -> None:
    """The solver objects to the same run as well, at another place; that must not hide it."""
    fault = "serializable-read-without-lock"
    with (
        open_target(f"simulated@{fault}") as target,
        Examiner(target, (*ORACLES, "serial")) as examiner,
    ):
        planted_fault = fault_named(fault)
        assert planted_fault is not None
        case = load_case(case_file(planted_fault)).at_level(Level.SERIALIZABLE)
        examined = examiner.examine(case)
        verdicts = {
            one.oracle: signature_of(examined.history, one) for one in examined.verdicts if one.is_violation
        }
        assert verdicts["serial"] != verdicts["solver"]
        seen = {trying.try_out(examiner, case, one.digest, 1) for one in verdicts.values()}
    assert seen == {("shows", "")}


def test_servers_at_different_addresses_are_different_servers(unseen: Finding) -> None:
    def at(host: str, found: str) -> Sighting:
        return Sighting(f"mysql://root@{host}:3306/", "8.0.33", "RR", found)

    merged = elsewhere._merged([at("one", "shows")], at("two", "does not show"))
    assert [one.found for one in merged] == ["shows", "does not show"]
    assert elsewhere._merged(merged, at("two", "shows"))[-1].found == "shows"


def test_simulated_engines_are_not_asked_unless_named() -> None:
    specs = other_specs()
    assert "sqlite" in specs
    assert not [spec for spec in specs if spec.startswith("simulated")]
