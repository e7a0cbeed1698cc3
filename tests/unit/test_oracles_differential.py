"""`differential`: the smallest runs that agree, that differ by promise, and of which one is wrong."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from decimal import Decimal

import pytest
from click.testing import CliRunner

from acidtest.casefile import parse_case
from acidtest.claims import claim_for
from acidtest.claims.incompatibilities import INCOMPATIBILITIES, names_of, same_promise
from acidtest.cli import cli
from acidtest.codec import decode, encode
from acidtest.errors import UsageError
from acidtest.examine import Examined, Examiner
from acidtest.findings.signature import Differs, signature_of
from acidtest.model import (
    Affected,
    Case,
    ComparisonWitness,
    DifferenceKind,
    ErrorKind,
    Failed,
    History,
    Judgement,
    Level,
    Rows,
    RunDifference,
    Undone,
    Verdict,
    ViolationKind,
    passed,
    unknown,
)
from acidtest.oracles import differential
from acidtest.oracles.comparing import differences, not_understood, same_start, same_values
from acidtest.oracles.registry import check_names, with_comparing
from acidtest.report import print_verdicts, verdict_to_json
from acidtest.report.side_by_side import MARK, compared_runs
from acidtest.targets.resolve import open_target

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE

OWN_WRITE = """
1 BEGIN
1 UPDATE t SET v = 11 WHERE id = 1
1 SELECT * FROM t
1 COMMIT
"""
LOST_UPDATE = """
1 BEGIN
1 SELECT * FROM t
2 UPDATE t SET v = 21 WHERE id = 1
1 UPDATE t SET v = v + 1 WHERE id = 1
1 COMMIT
"""


def case_of(script: str, level: Level = RR) -> Case:
    schedule = "\n".join(f"/* tx{line[0]} */ {line[2:]};" for line in script.strip().splitlines())
    setup = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);"
    return parse_case(f"-- level: {level.value}\n-- setup\n{setup}\n-- schedule\n{schedule}\n", "case")


@contextmanager
def comparing(spec: str, against: str, *oracles: str) -> Iterator[Examiner]:
    with ExitStack() as stack:
        target, other = (stack.enter_context(open_target(one)) for one in (spec, against))
        yield stack.enter_context(Examiner(target, (*oracles, "differential"), against=other))


def compared(spec: str, against: str, case: Case) -> Verdict:
    return examined(spec, against, case).verdicts[0]


def examined(spec: str, against: str, case: Case) -> Examined:
    with comparing(spec, against) as examiner:
        return examiner.examine(case, fresh=True)


def witness_of(verdict: Verdict) -> ComparisonWitness:
    assert verdict.violation is not None
    assert isinstance(verdict.violation.witness, ComparisonWitness)
    return verdict.violation.witness


# -- the oracle


def test_two_right_runs_that_do_the_same_pass() -> None:
    verdict = compared("simulated", "simulated?engine=recheck", case_of(OWN_WRITE, RC))
    assert verdict == passed("differential")


def test_a_difference_that_both_promises_foresee_is_named_and_does_not_count() -> None:
    verdict = compared("simulated", "simulated?engine=fail", case_of(LOST_UPDATE))
    assert verdict.judgement is Judgement.PASS
    (known,) = verdict.differences
    assert known.id == "promise:on_conflict"
    assert known.link.startswith("https://")


def test_the_run_that_breaks_its_own_promise_is_named() -> None:
    run = examined("simulated@own-write-unseen", "simulated", case_of(OWN_WRITE))
    (verdict,) = run.verdicts
    (breach,) = witness_of(verdict).breaches
    assert (breach.target, breach.kind, breach.step) == (
        "simulated@own-write-unseen",
        ViolationKind.WRONG_ROWS,
        2,
    )
    assert [one.kind for one in witness_of(verdict).differences] == [DifferenceKind.ROWS]
    assert signature_of(run.history, verdict).part == Differs(DifferenceKind.ROWS, here=True, there=False)


def test_the_other_run_can_be_the_wrong_one() -> None:
    run = examined("simulated", "simulated@own-write-unseen", case_of(OWN_WRITE))
    (verdict,) = run.verdicts
    assert [one.target for one in witness_of(verdict).breaches] == ["simulated@own-write-unseen"]
    assert signature_of(run.history, verdict).part == Differs(DifferenceKind.ROWS, here=False, there=True)


def test_a_fault_that_both_have_is_not_seen() -> None:
    verdict = compared("simulated@own-write-unseen", "simulated@own-write-unseen", case_of(OWN_WRITE))
    assert verdict.judgement is Judgement.PASS


def test_a_case_at_a_level_that_the_other_lacks_is_skipped_with_the_reason() -> None:
    verdict = compared("simulated", "simulated?engine=one-writer", case_of(OWN_WRITE, RC))
    assert verdict.judgement is Judgement.UNKNOWN
    assert verdict.reason == "skipped: simulated?engine=one-writer has no level READ COMMITTED"


def test_a_set_up_that_the_other_refuses_is_skipped_with_the_reason() -> None:
    case = case_of(OWN_WRITE, SER)
    script = "CREATE TABLE t (id INT PRIMARY KEY, v INT CHECK (v > json_array_length('[]')))"
    odd = replace(case, setup=(replace(case.setup[0], sql=script), *case.setup[1:]))
    verdict = compared("sqlite", "simulated?engine=one-writer", odd)
    assert verdict.judgement is Judgement.UNKNOWN
    assert verdict.reason == "skipped: simulated?engine=one-writer refuses the set-up"


def test_a_statement_that_one_does_not_know_is_skipped_with_the_reason() -> None:
    case = case_of("1 SELECT sqlite_version() IS NULL", SER)
    verdict = compared("sqlite", "simulated?engine=one-writer", case)
    assert verdict.reason == "skipped: simulated?engine=one-writer does not know a statement of the case"


def test_without_another_target_it_has_no_say() -> None:
    with open_target("simulated") as target, Examiner(target, ["differential"]) as examiner:
        assert examiner.examine(case_of(OWN_WRITE)).verdicts == ()


# -- what it decides when no walk can tell


@pytest.fixture(scope="module")
def pair() -> tuple[History, History]:
    """The same run of two servers that make one promise, but for a row of the second read."""
    with open_target("simulated") as target, Examiner(target, []) as examiner:
        here = examiner.examine(case_of(OWN_WRITE)).history
    outcome = here.records[2].outcome
    assert isinstance(outcome, Rows)
    other = replace(here.records[2], outcome=replace(outcome, rows=outcome.rows[:1]))
    records = (*here.records[:2], other, *here.records[3:])
    return here, replace(here, records=records, target="simulated@other")


def weighed(here: History, there: History) -> Verdict:
    doubt = unknown("solver", "not known")
    return differential._weighed(here, there, differences(here, there), doubt, doubt)


def test_under_one_promise_results_must_agree_even_if_no_walk_can_tell(pair: tuple[History, History]) -> None:
    verdict = weighed(*pair)
    assert verdict.is_violation
    assert witness_of(verdict).breaches == ()


def test_what_a_limit_leaves_open_is_unknown(pair: tuple[History, History]) -> None:
    def limited(history: History) -> History:
        records = list(history.records)
        records[2] = replace(records[2], sql="SELECT * FROM t LIMIT 1")
        return replace(history, records=tuple(records))

    assert weighed(*map(limited, pair)).judgement is Judgement.UNKNOWN


def test_a_wait_alone_says_nothing_if_no_walk_can_tell(pair: tuple[History, History]) -> None:
    here, there = pair
    records = (*here.records[:2], replace(here.records[2], waited=True), *here.records[3:])
    assert weighed(replace(here, records=records), there).judgement is Judgement.UNKNOWN


def test_two_dbmss_that_no_walk_can_judge_are_unknown(pair: tuple[History, History]) -> None:
    here, there = pair
    verdict = weighed(replace(here, dbms="mysql"), replace(there, dbms="mariadb"))
    assert verdict.judgement is Judgement.UNKNOWN


# -- differences


def test_numbers_of_any_type_are_equal_and_others_are_not() -> None:
    assert same_values([(True, Decimal("2.0"), 0.5)], [(1, 2, Decimal("0.50"))])
    assert same_values([(1,), (2,)], [(2,), (1,)])
    assert not same_values([(1,)], [(1,), (1,)])
    assert not same_values([("1",)], [(1,)])
    assert same_values([(float("inf"), Decimal("1e40"))], [(float("inf"), 10**40)])


def test_differences_come_in_the_order_of_effect(pair: tuple[History, History]) -> None:
    here, there = pair
    odd = replace(there, final={"t": ((1, 11),)})
    first, last = differences(here, odd)
    assert (first.kind, first.step) == (DifferenceKind.ROWS, 2)
    assert (last.kind, last.step, last.table) == (DifferenceKind.STATE, None, "t")
    assert differences(here, here) == ()


def test_a_statement_that_one_refuses_is_told_from_an_error(pair: tuple[History, History]) -> None:
    here, _ = pair

    def failing(kind: ErrorKind) -> History:
        failed = replace(here.records[2], outcome=Failed(kind, "1", "", Undone.STATEMENT))
        return replace(here, records=(*here.records[:2], failed, *here.records[3:]), target="other")

    assert not_understood(here, failing(ErrorKind.SYNTAX)) == "other"
    assert not_understood(failing(ErrorKind.UNSUPPORTED), here) == "other"
    assert not_understood(here, failing(ErrorKind.DUPLICATE_KEY)) is None
    assert [one.kind for one in differences(here, failing(ErrorKind.DUPLICATE_KEY))] == [DifferenceKind.ERROR]
    assert not same_start(here, replace(here, initial={"t": ()}))


# -- names


def test_every_difference_has_a_name_with_a_link() -> None:
    claims = [claim_for(name, SER, {}) for name in ("mysql", "postgres", "sqlite")]
    for here in claims:
        for there in claims:
            assert here is not None
            assert there is not None
            for kind in DifferenceKind:
                names = names_of(RunDifference(kind, 0, Affected(1), Affected(2)), here, there)
                assert names
                assert all(one.link.startswith("https://") for one in names)


def test_one_promise_is_the_same_whoever_makes_it() -> None:
    mysql, mariadb = claim_for("mysql", RR, {}), claim_for("mariadb", RR, {})
    assert mysql is not None
    assert mariadb is not None
    assert same_promise(mysql, mariadb)
    assert not same_promise(mysql, replace(mariadb, predicate_locks=False))


def test_documented_incompatibilities_hold_both_ways() -> None:
    for one in INCOMPATIBILITIES:
        some, others = min(one.some), min(one.others)
        assert one.is_between(some, others)
        assert one.is_between(others, some)
        assert not one.is_between(some, some)


# -- telling


def test_both_runs_stand_beside_each_other() -> None:
    run = examined("simulated@own-write-unseen", "simulated", case_of(OWN_WRITE))
    runs = compared_runs(run.history, run.verdicts[0])
    assert runs is not None
    assert runs.head == ("step", "statement", "simulated@own-write-unseen", "", "simulated")
    assert [row[0] for row in runs.rows if row[3] == MARK] == ["2"]
    text = print_verdicts(run.history, run.verdicts)
    assert "simulated@own-write-unseen breaks its own promise: wrong rows at step 2" in text
    assert "expected as on simulated: (1,11) (2,20)" in text
    told = verdict_to_json(run.verdicts[0])
    assert told["other_run"]["target"] == "simulated"
    assert decode(encode(run.verdicts[0]), Verdict) == run.verdicts[0]


def test_an_allowed_difference_is_told_with_its_name() -> None:
    run = examined("simulated", "simulated?engine=fail", case_of(LOST_UPDATE))
    text = print_verdicts(run.history, run.verdicts)
    assert "both are right: the promises differ in what a write does" in text
    assert verdict_to_json(run.verdicts[0])["allowed_differences"][0]["id"] == "promise:on_conflict"


# -- asking for it


def test_the_oracle_needs_another_target() -> None:
    with pytest.raises(UsageError, match="compares with another target; name it with --against TARGET"):
        check_names(["differential"], against=False)
    assert with_comparing(["solver"], against=True) == ("solver", "differential")
    assert with_comparing(["solver"], against=False) == ("solver",)


@pytest.mark.parametrize("command", [["run", "g0-dirty-write", "-t"], ["fuzz", "--cases", "1"]])
@pytest.mark.parametrize(
    ("against", "complaint"),
    [
        (["simulated"], "--against simulated is a target itself"),
        (["sqlite", "duckdb"], "--against names one target to compare with, not 2"),
        (["nosuch"], "unknown target 'nosuch'"),
    ],
)
def test_a_comparison_that_cannot_be_meant_is_refused(
    command: list[str], against: list[str], complaint: str
) -> None:
    options = [word for spec in against for word in ("--against", spec)]
    result = CliRunner().invoke(cli, [*command, "simulated", *options], standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    assert complaint in str(result.exception)


def test_run_compares_and_finds() -> None:
    arguments = [
        "run",
        "g0-dirty-write",
        "-t",
        "simulated",
        "--force",
        "--against",
        "simulated?engine=recheck",
        "-l",
    ]
    result = CliRunner().invoke(cli, [*arguments, "RC"], standalone_mode=False)
    assert result.exception is None
    assert "-- differential: pass" in result.output
