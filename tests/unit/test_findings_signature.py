"""Signatures: the same for the same bug, whatever the values; different where causes differ."""

from dataclasses import replace

import pytest

from acidtest.casefile import load_case, parse_case
from acidtest.codec import decode, encode
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.findings.cause import Basis, Cause
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.finding import Finding  # noqa: F401  (its parts are known to the codec)
from acidtest.findings.parts import (
    Crash,
    Cycle,
    MissingWait,
    NoOrder,
    RowReason,
    Sight,
    WrongCount,
    WrongError,
    WrongRows,
)
from acidtest.findings.places import Moment, Since, StatementClass
from acidtest.findings.signature import Signature, signature_of
from acidtest.model import (
    DependencyKind,
    ErrorKind,
    Failed,
    Hold,
    Judgement,
    Known,
    Level,
    Phenomenon,
    Reason,
    RowsWitness,
    Status,
    Verdict,
    Violation,
    ViolationKind,
    violated,
)
from acidtest.model.trace import Fate
from acidtest.oracles import solver
from acidtest.report.signatures import describe
from acidtest.simulated import FAULTS, case_file
from acidtest.targets.resolve import open_target

ROWS = ViolationKind.WRONG_ROWS
UPDATED = Deed(Act.UPDATE, Fate.COMMITTED)
INSERTED = Deed(Act.INSERT, Fate.COMMITTED)
DIRTY_ROWS = WrongRows(
    frozenset({RowReason(True, Reason.UNCOMMITTED), RowReason(False, Reason.INITIAL, Since.OPEN)})
)
STALE_ROWS = WrongRows(
    frozenset({RowReason(True, Reason.REPLACED), RowReason(False, Reason.COMMITTED)}),
    stored=False,
    moment=Moment.BEFORE_BEGIN,
)


def wrong_rows(*others: Deed, part: WrongRows = STALE_ROWS) -> Signature:
    return Signature(ROWS, part, StatementClass.PLAIN_READ, others=frozenset(others))


def sign(fault: str, level: Level, schedule: str, table: str = "CREATE TABLE t (a INT, b INT);") -> Signature:
    text = f"-- id: x\n-- setup\n{table}\nINSERT INTO t VALUES (1, 1), (2, 2);\n-- schedule\n{schedule}"
    with open_target(f"simulated@{fault}") as target, Executor(target) as executor:
        history = executor.run(parse_case(text, "x").at_level(level))
    verdict = solver.judge(history)
    assert verdict.judgement is Judgement.VIOLATION, verdict
    return signature_of(history, verdict)


def verdict_at(step: int, *explained_by: Known) -> Verdict:
    return violated("solver", Violation(ROWS, step, RowsWitness((), ()), explained_by=explained_by))


DIRTY = """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = {value} WHERE a = {key};
/* tx2 */ SELECT * FROM t;
/* tx1 */ {end};
"""


def test_values_and_what_comes_later_do_not_matter() -> None:
    one = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=5, key=1, end="COMMIT"))
    other = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=9, key=2, end="ROLLBACK"))
    assert (
        one
        == other
        == Signature(
            ROWS,
            DIRTY_ROWS,
            StatementClass.PLAIN_READ,
            phenomenon=Phenomenon.P1,
            others=frozenset({Deed(Act.UPDATE, Fate.OPEN)}),
        )
    )
    assert one.digest == other.digest
    assert describe(one) == (
        "wrong rows [P1]: too many (not committed) and too few (there from the start, "
        "changed by one that has not committed) at plain read "
        "after update still open"
    )


def test_an_update_of_a_key_is_told_apart_but_may_turn_out_to_be_none() -> None:
    keyed = sign(
        "dirty-read",
        Level.READ_COMMITTED,
        DIRTY.format(value=5, key=1, end="COMMIT"),
        table="CREATE TABLE t (a INT, b INT PRIMARY KEY);",
    )
    plain = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=5, key=1, end="COMMIT"))
    assert keyed.others == {Deed(Act.UPDATE, Fate.OPEN, of_key=True)}
    assert keyed.may_become(plain)
    assert not plain.may_become(keyed)


def test_own_writes_count_as_own_while_their_transaction_goes_on() -> None:
    schedule = """\
/* tx1 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 7;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
    signature = sign("own-write-unseen", Level.REPEATABLE_READ, schedule)
    assert signature.own == {Deed(Act.UPDATE, Fate.OPEN)}
    assert signature.others == {INSERTED}
    assert isinstance(signature.part, WrongRows)
    assert signature.part.telling == RowReason(False, Reason.OWN)


def test_what_a_transaction_that_is_over_did_counts_whoever_ran_it() -> None:
    schedule = """\
/* {writer} */ BEGIN;
/* {writer} */ DELETE FROM t WHERE a = 1;
/* {writer} */ ROLLBACK;
/* tx1 */ SELECT * FROM t;
"""
    own, other = (
        sign("rollback-duplicates-row", Level.READ_COMMITTED, schedule.format(writer=writer))
        for writer in ("tx1", "tx2")
    )
    assert own == other
    assert own.others == {Deed(Act.DELETE, Fate.ABORTED)}


def test_a_write_that_failed_is_a_cause() -> None:
    signature = sign(
        "failed-statement-kept",
        Level.READ_COMMITTED,
        "/* tx1 */ BEGIN;\n/* tx1 */ INSERT INTO t VALUES (3, 3), (1, 1);\n/* tx1 */ SELECT * FROM t;\n",
        table="CREATE TABLE t (a INT PRIMARY KEY, b INT);",
    )
    assert signature.own == {Deed(Act.INSERT, Fate.OPEN, failed=True)}


def test_what_a_deadlock_undid_was_rolled_back() -> None:
    schedule = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ UPDATE t SET b = 7 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 8 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 7 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 8 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;
"""
    with open_target("simulated") as target, Executor(target) as executor:
        table = "CREATE TABLE t (a INT PRIMARY KEY, b INT);\nINSERT INTO t VALUES (1, 1), (2, 2);\n"
        history = executor.run(parse_case(f"-- setup\n{table}-- schedule\n{schedule}", "x"))
    (victim,) = (one.session for one in history.records if isinstance(one.outcome, Failed))
    others = signature_of(history, verdict_at(9)).others
    assert (Deed(Act.INSERT, Fate.ABORTED) in others) == (victim == "tx1")
    assert {UPDATED, Deed(Act.UPDATE, Fate.ABORTED)} <= others


def test_names_in_other_cases_mean_the_same_table() -> None:
    schedule = DIRTY.format(value=5, key=1, end="COMMIT").replace("UPDATE t", "UPDATE T")
    with open_target("sqlite") as target, Executor(target) as executor:
        text = f"-- setup\nCREATE TABLE t (a INT, b INT PRIMARY KEY);\n-- schedule\n{schedule}"
        history = executor.run(parse_case(text, "x"))
    assert signature_of(history, verdict_at(2)).others == {Deed(Act.UPDATE, Fate.OPEN, of_key=True)}


# -- which statement went wrong, and what shows it

LOST_UPDATE = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 5;
/* tx1 */ UPDATE t SET b = b + 1;
{shows}/* tx1 */ COMMIT;
"""


@pytest.mark.parametrize("shows", ["", "/* tx1 */ SELECT * FROM t;\n"], ids=["final state", "own read"])
def test_rows_that_nobody_should_have_written_blame_the_write(shows: str) -> None:
    signature = sign("lost-update", Level.REPEATABLE_READ, LOST_UPDATE.format(shows=shows))
    assert signature.statement is StatementClass.UPDATE_OR_DELETE
    assert not signature.own
    assert signature.others == {UPDATED}
    assert signature.cause == Cause(
        sight=Sight.WRITE, statement=StatementClass.UPDATE_OR_DELETE, basis=Basis.COMMITTED
    )


def test_a_row_that_shows_tells_more_than_one_that_is_missing() -> None:
    shown = RowReason(True, Reason.ROLLED_BACK)
    missing = RowReason(False, Reason.INITIAL, Since.OPEN)
    assert WrongRows(frozenset({shown, missing})).sight is Sight.ABORTED
    assert WrongRows(frozenset({missing})).sight is Sight.DIRTY


STALE = """\
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 5;
/* tx1 */ SELECT {columns} FROM t;
/* tx1 */ COMMIT;
{later}"""


@pytest.mark.parametrize(
    ("columns", "later", "stored"),
    [("*", "", False), ("b", "", None), ("*", "/* tx2 */ UPDATE t SET b = 1 WHERE a = 1;\n", None)],
)
def test_what_is_stored_is_told_by_whole_rows_that_nobody_has_written_since(
    columns: str, later: str, stored: bool | None
) -> None:
    signature = sign("stale-snapshot", Level.READ_COMMITTED, STALE.format(columns=columns, later=later))
    assert isinstance(signature.part, WrongRows)
    assert signature.part.stored is stored


# -- what a smaller case may lose


def test_fewer_causes_may_be_the_same_bug_and_new_ones_may_not() -> None:
    many, few = wrong_rows(UPDATED, INSERTED), wrong_rows(UPDATED)
    assert many.may_become(few)
    assert not few.may_become(many)
    assert not many.may_become(replace(few, waited=True))
    assert replace(many, waited=True).may_become(few)
    assert not many.may_become(replace(few, statement=StatementClass.LOCKING_READ))
    assert not many.may_become(replace(few, phenomenon=Phenomenon.P1))


def test_a_reduction_never_slips_to_another_reason() -> None:
    both = WrongRows(DIRTY_ROWS.reasons | STALE_ROWS.reasons)
    assert wrong_rows(part=both).may_become(wrong_rows(part=DIRTY_ROWS))
    assert not wrong_rows(part=both).may_become(
        wrong_rows(part=replace(STALE_ROWS, stored=None, moment=None))
    )
    assert not wrong_rows(part=DIRTY_ROWS).may_become(wrong_rows(part=both))
    assert not wrong_rows().may_become(wrong_rows(part=replace(STALE_ROWS, stored=True)))
    assert not wrong_rows().may_become(wrong_rows(part=replace(STALE_ROWS, torn=True)))
    assert not wrong_rows().may_become(wrong_rows(part=replace(STALE_ROWS, moment=Moment.AFTER_FIRST_READ)))
    late = replace(STALE_ROWS, moment=Moment.AFTER_FIRST_READ)
    assert wrong_rows(part=late).may_become(wrong_rows())


def test_a_wait_before_it_may_turn_out_to_be_an_accident() -> None:
    hindered = wrong_rows(replace(UPDATED, waited=True, meanwhile=True))
    assert hindered.may_become(wrong_rows(UPDATED))
    assert not wrong_rows(UPDATED).may_become(hindered)
    assert hindered.without_waits() == wrong_rows(UPDATED)


def test_rows_that_show_more_may_have_other_reasons_but_no_other_deeds() -> None:
    part = WrongRows(frozenset({RowReason(True, Reason.LATER)}))
    assert wrong_rows(UPDATED, part=part).may_clear_up_as(wrong_rows(UPDATED))
    assert not wrong_rows(UPDATED, part=part).may_clear_up_as(wrong_rows(INSERTED))
    assert not wrong_rows(UPDATED, part=part).may_clear_up_as(replace(wrong_rows(UPDATED), waited=True))
    known = replace(wrong_rows(UPDATED), explained_by=("X-1",))
    assert not wrong_rows(UPDATED, part=part).may_clear_up_as(known)


def test_an_unexplained_violation_never_becomes_an_explained_one() -> None:
    known = replace(wrong_rows(UPDATED), explained_by=("X-1",))
    assert not known.may_become(wrong_rows(UPDATED))
    assert not wrong_rows(UPDATED).may_become(known)
    assert known.may_become(replace(wrong_rows(), explained_by=("X-1",)))


# -- identity


def test_an_explained_violation_is_its_deviation_whatever_it_looks_like() -> None:
    known = Known("X-1", "x", Status.CONFIRMED, "https://example.org")
    with open_target("simulated") as target, Executor(target) as executor:
        text = "-- setup\nCREATE TABLE t (a INT);\n-- schedule\n/* tx1 */ SELECT * FROM t;\n"
        history = executor.run(parse_case(text, "x"))
    one = signature_of(history, verdict_at(0, known))
    other = Signature(ViolationKind.WRONG_AFFECTED_COUNT, WrongCount(True), explained_by=("X-1",))
    assert one.explained_by == ("X-1",)
    assert one.is_same(other)
    assert (one.digest, one.cause) == (other.digest, other.cause)
    assert one.cause == Cause(explained_by=("X-1",))
    assert describe(one) == "explained by X-1"
    assert not one.is_same(replace(one, explained_by=()))


def test_unexplained_variants_share_their_cause_and_not_their_digest() -> None:
    one, other = wrong_rows(UPDATED), wrong_rows(INSERTED)
    assert one.cause == other.cause
    assert one.digest != other.digest
    assert not one.is_same(other)
    assert one.cause != wrong_rows(UPDATED, part=DIRTY_ROWS).cause


@pytest.mark.parametrize(
    "part",
    [
        STALE_ROWS,
        WrongCount(too_many=False),
        WrongError(frozenset({ErrorKind.DUPLICATE_KEY}), None),
        MissingWait(Hold.KEY, early=True),
        Cycle((DependencyKind.RW, DependencyKind.RW_PREDICATE)),
        NoOrder(),
        Crash(died=True, signal="SIGSEGV"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_signature_survives_being_stored_and_has_words(part: object) -> None:
    signature = replace(wrong_rows(UPDATED), part=part)  # type: ignore[arg-type]
    again = decode(encode(signature), Signature)
    assert again == signature
    assert again.digest == signature.digest
    assert describe(signature)


# -- ratchets

PAIRS_MAX = 2


def test_planted_faults_have_signatures_of_their_own() -> None:
    """Over the smallest case of each fault at each of its levels, few pairs of faults are taken for one."""
    faults_by: dict[Signature, set[str]] = {}
    for fault in FAULTS:
        case = load_case(case_file(fault))
        with open_target(f"simulated@{fault.name}") as target, Examiner(target) as examiner:
            for level in fault.levels:
                examined = examiner.examine(case.at_level(level), fresh=True)
                if examined.violation is not None:
                    signature = signature_of(examined.history, examined.violation)
                    faults_by.setdefault(signature, set()).add(fault.name)
    own = [signature for signature, faults in faults_by.items() if len(faults) == 1]
    shared = sorted(sorted(faults) for faults in faults_by.values() if len(faults) > 1)
    assert len(own) >= len(FAULTS) - 2 * PAIRS_MAX
    assert shared == [
        ["for-share-without-lock", "share-does-not-exclude"],
        ["locks-end-with-statement", "update-without-lock"],
    ]
