"""Signatures: the same for the same bug, whatever the values; different where causes differ."""

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.model import Failed, Judgement, Level, RowsWitness, Verdict, Violation, ViolationKind, violated
from acidtest.oracles import solver
from acidtest.signatures import Signature, signature_of
from acidtest.targets.resolve import open_target


def sign(fault: str, level: Level, schedule: str, table: str = "CREATE TABLE t (a INT, b INT);") -> Signature:
    text = f"-- id: x\n-- setup\n{table}\nINSERT INTO t VALUES (1, 1), (2, 2);\n-- schedule\n{schedule}"
    with open_target(f"simulated@{fault}") as target, Executor(target) as executor:
        history = executor.run(parse_case(text, "x").at_level(level))
    verdict = solver.judge(history)
    assert verdict.judgement is Judgement.VIOLATION, verdict
    return signature_of(history, verdict)


def wrong_rows(oracle: str, step: int) -> Verdict:
    return violated(oracle, Violation(ViolationKind.WRONG_ROWS, step, RowsWitness((), ())))


DIRTY = """\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = {value} WHERE a = {key};
/* tx2 */ SELECT * FROM t;
/* tx1 */ {end};
"""


def test_values_and_what_comes_later_do_not_matter() -> None:
    one = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=5, key=1, end="COMMIT"))
    other = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=9, key=2, end="ROLLBACK"))
    assert one == other
    assert one.text == "wrong rows at plain read after update still open"
    assert one.digest == other.digest


def test_an_update_of_a_key_is_told_apart_but_may_turn_out_to_be_none() -> None:
    keyed = sign(
        "dirty-read",
        Level.READ_COMMITTED,
        DIRTY.format(value=5, key=1, end="COMMIT"),
        table="CREATE TABLE t (a INT, b INT PRIMARY KEY);",
    )
    plain = sign("dirty-read", Level.READ_COMMITTED, DIRTY.format(value=5, key=1, end="COMMIT"))
    assert keyed.causes == {"update of a key still open"}
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
    assert signature.text == "wrong rows at plain read after insert, own update"


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
    assert own.text == "wrong rows at plain read after delete rolled back"


def test_a_write_that_failed_is_a_cause() -> None:
    signature = sign(
        "failed-statement-kept",
        Level.READ_COMMITTED,
        "/* tx1 */ BEGIN;\n/* tx1 */ INSERT INTO t VALUES (3, 3), (1, 1);\n/* tx1 */ SELECT * FROM t;\n",
        table="CREATE TABLE t (a INT PRIMARY KEY, b INT);",
    )
    assert signature.text == "wrong rows at plain read after own insert that failed"


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
    wrong = wrong_rows("solver", 9)
    causes = signature_of(history, wrong).causes
    assert ("insert rolled back" in causes) == (victim == "tx1")
    assert {"update", "update rolled back"} <= causes


def test_names_in_other_cases_mean_the_same_table() -> None:
    schedule = DIRTY.format(value=5, key=1, end="COMMIT").replace("UPDATE t", "UPDATE T")
    with open_target("sqlite") as target, Executor(target) as executor:
        text = f"-- setup\nCREATE TABLE t (a INT, b INT PRIMARY KEY);\n-- schedule\n{schedule}"
        history = executor.run(parse_case(text, "x"))
    wrong = wrong_rows("views", 2)
    assert signature_of(history, wrong).text == "wrong rows at plain read after update of a key still open"


def test_fewer_causes_may_be_the_same_bug_and_new_ones_may_not() -> None:
    many = Signature("wrong rows", "plain read", False, frozenset({"update", "insert", "own delete"}))
    few = Signature("wrong rows", "plain read", False, frozenset({"update"}))
    assert many.may_become(few)
    assert not few.may_become(many)
    assert not many.may_become(Signature("wrong rows", "plain read", True, frozenset({"update"})))
    assert not many.may_become(Signature("wrong rows", "locking read", False, frozenset({"update"})))


def test_a_signature_survives_being_stored() -> None:
    signature = Signature("wrong error: none", "insert", True, frozenset({"insert", "own update"}))
    assert Signature.from_json(signature.to_json()) == signature


def test_a_key_too_many_in_a_known_bug_is_an_accident_but_not_the_only_one() -> None:
    def waited(*causes: str) -> Signature:
        return Signature("wrong affected count", "update or delete", True, frozenset(causes))

    known = waited("update of a key", "update of a key while it waited")
    assert known.is_but_for_a_key(waited("update", "update of a key while it waited"))
    assert not known.is_but_for_a_key(waited("update", "update while it waited"))
    assert not known.is_but_for_a_key(waited("update of a key while it waited"))
    assert not known.is_but_for_a_key(known)
