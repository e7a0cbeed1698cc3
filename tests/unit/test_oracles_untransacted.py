"""`replay`: runs that come to the same without transactions, that do not, and that cannot be told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random

import pytest

from acidtest.casefile import parse_case
from acidtest.codec import decode, encode
from acidtest.examine import Examined, Examiner
from acidtest.findings.parts import Untransacted
from acidtest.findings.signature import signature_of
from acidtest.model import (
    CrashWitness,
    DifferenceKind,
    ErrorKind,
    Failed,
    History,
    Judgement,
    Level,
    Phenomenon,
    Rows,
    Undone,
    UntransactedWitness,
    Verdict,
    ViolationKind,
)
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.scratch import Scratch
from acidtest.oracles.statement_order import count_orders, cycle_breakers, random_order
from acidtest.oracles.untransacted import graph_of
from acidtest.oracles.walks import HistoryWalk
from acidtest.report import disagreement, print_verdicts
from acidtest.targets.resolve import open_target

RU, RC, RR, SER = Level.READ_UNCOMMITTED, Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE
SETUP = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);"


@contextmanager
def examining(spec: str, *oracles: str) -> Iterator[Examiner]:
    with open_target(spec) as target, Examiner(target, oracles or ("replay",)) as examiner:
        yield examiner


def examined(
    script: str, level: Level = RR, spec: str = "simulated", setup: str = SETUP, *oracles: str
) -> Examined:
    schedule = "\n".join(f"/* tx{line[0]} */ {line[2:]};" for line in script.strip().splitlines())
    text = f"-- level: {level.value}\n-- setup\n{setup}\n-- schedule\n{schedule}\n"
    with examining(spec, *oracles) as examiner:
        return examiner.examine(parse_case(text, "case"), fresh=True)


def verdict_of(script: str, level: Level = RR, spec: str = "simulated", setup: str = SETUP) -> Verdict:
    return examined(script, level, spec, setup).verdicts[0]


def edges_of(history: History) -> set[tuple[int, int]]:
    return graph_of(history, HistoryWalk(history))[1]


# -- the oracle


FIGURE_1 = """
1 BEGIN
1 UPDATE t SET v = 11 WHERE id = 1
2 BEGIN
2 SELECT * FROM t
1 COMMIT
2 SELECT * FROM t WHERE v = (SELECT MIN(v) FROM t)
2 UPDATE t SET v = 30 WHERE id = 1 AND v = 11
2 COMMIT
"""
"""The heart of TxCheck's Figure 1: after a read of its snapshot a transaction updates what is newer. InnoDB
documents that, so it is no bug."""


def test_a_write_that_sees_more_than_the_reads_of_its_transaction_comes_after_them() -> None:
    run = examined(FIGURE_1)
    assert run.verdicts[0].judgement is Judgement.PASS
    assert run.verdicts[0].reason == ""
    found = edges_of(run.history)
    assert {(3, 1), (5, 1), (1, 6)} <= found


def test_where_one_snapshot_holds_for_all_the_same_update_must_fail() -> None:
    assert verdict_of(FIGURE_1, spec="simulated?engine=fail").judgement is Judgement.PASS


FIGURE_15 = """
1 BEGIN
1 UPDATE t SET v = id + 10
1 SELECT COUNT(v) FROM t
1 COMMIT
"""


def test_what_a_transaction_computes_is_compared_with_the_run_without_it() -> None:
    assert verdict_of(FIGURE_15).judgement is Judgement.PASS
    run = examined(FIGURE_15.replace("COUNT(v)", "v"), RR, "simulated@own-write-unseen")
    (verdict,) = run.verdicts
    assert verdict.violation is not None
    witness = verdict.violation.witness
    assert isinstance(witness, UntransactedWitness)
    assert (verdict.kind, verdict.step, witness.order) == (ViolationKind.UNTRANSACTED, 2, (1, 2))
    assert witness.transactional is True
    part = signature_of(run.history, verdict).part
    assert part == Untransacted(DifferenceKind.ROWS, transactional=True)
    text = print_verdicts(run.history, run.verdicts)
    assert "expected as without transactions: (11) (12)" in text
    assert "steps in the order in which they ran without transactions: 1, 2" in text
    assert decode(encode(verdict), Verdict) == verdict


def test_a_final_state_that_the_statements_do_not_leave_is_a_violation() -> None:
    verdict = verdict_of("1 BEGIN\n1 UPDATE t SET v = 11\n1 COMMIT", RR, "simulated@commit-loses-row")
    assert verdict.violation is not None
    assert isinstance(verdict.violation.witness, UntransactedWitness)
    assert verdict.violation.witness.table == "t"
    assert verdict.step is None


def test_a_forbidden_cycle_comes_first() -> None:
    lost_update = "1 BEGIN\n1 SELECT * FROM t\n2 UPDATE t SET v = 21 WHERE id = 1\n"
    rest = "1 UPDATE t SET v = 30 WHERE id = 1\n1 COMMIT"
    verdict = verdict_of(lost_update + rest, RR, "simulated@newer-row-written?engine=fail")
    assert verdict.kind is ViolationKind.FORBIDDEN_PHENOMENON
    assert verdict.violation is not None
    assert verdict.violation.phenomenon in (Phenomenon.P4, Phenomenon.G_SINGLE, Phenomenon.G_SIA)


CIRCLE = """
1 BEGIN
1 SELECT COUNT(*) FROM t
2 BEGIN
2 SELECT COUNT(*) FROM t
1 UPDATE t SET v = (SELECT MAX(v) FROM t) + 1 WHERE id = 1
2 UPDATE t SET v = (SELECT MAX(v) FROM t) + 2 WHERE id = 2
1 COMMIT
2 COMMIT
"""
"""Write skew within two statements, which a snapshot allows: each computes from what the other replaces."""


def test_statements_that_depend_on_each_other_in_a_circle_are_left_out_and_the_rest_is_run_again() -> None:
    setup = SETUP.replace("PRIMARY KEY", "")
    run = examined(CIRCLE, RR, "simulated?engine=fail", setup)
    (verdict,) = run.verdicts
    assert verdict.judgement is Judgement.PASS
    assert verdict.reason == "without steps 4, which depend on each other in a circle"
    assert {(4, 5), (5, 4)} <= edges_of(run.history)


def test_who_left_out_a_statement_does_not_disagree() -> None:
    run = examined(FIGURE_15.replace("COUNT(v)", "v"), RR, "simulated@own-write-unseen", SETUP, "solver")
    (wrong,) = run.verdicts
    whole = Verdict("replay", Judgement.PASS)
    assert disagreement([wrong, whole]) == "solver found a violation, replay did not"
    assert disagreement([wrong, replace(whole, reason="without steps 4")]) is None


@pytest.mark.parametrize(
    ("script", "level", "setup", "reason"),
    [
        ("1 SELECT * FROM t", RU, SETUP, "at READ UNCOMMITTED"),
        ("1 UPDATE t SET v = 1 LIMIT 1", RC, SETUP, "LIMIT"),
        ("1 INSERT INTO t VALUES (3, LAST_INSERT_ID())", RC, SETUP, "LAST_INSERT_ID"),
    ],
)
def test_it_abstains_with_the_reason(script: str, level: Level, setup: str, reason: str) -> None:
    verdict = verdict_of(script, level, setup=setup)
    assert verdict.judgement is Judgement.UNKNOWN
    assert reason in verdict.reason


def test_it_abstains_where_a_subquery_of_a_write_may_read_either_way() -> None:
    run = examined(FIGURE_15)
    history = replace(run.history, dbms="tidb", settings={"tidb_txn_mode": "pessimistic"})
    with examining("simulated") as examiner:
        (verdict,) = examiner.judge(history)
    assert verdict.reason == "it is not laid down which versions a subquery of a write reads"


def test_it_abstains_where_constraints_may_wait_for_commit() -> None:
    run = examined(FIGURE_15)
    (table,) = run.history.schema.tables
    deferrable = replace(table, indexes=tuple(replace(one, deferrable=True) for one in table.indexes))
    schema = replace(run.history.schema, tables=(deferrable,))
    with examining("simulated") as examiner:
        (verdict,) = examiner.judge(replace(run.history, schema=schema))
    assert verdict.reason == "constraints that may be checked at COMMIT"


def test_an_answer_that_is_open_is_not_compared() -> None:
    script = "1 BEGIN\n1 SELECT * FROM t LIMIT 1\n1 UPDATE t SET v = 1\n1 COMMIT"
    run = examined(script)
    assert run.verdicts[0].judgement is Judgement.PASS
    assert graph_of(run.history, HistoryWalk(run.history))[0] == (2,)


def test_an_error_inside_the_dbms_without_transactions_is_a_finding_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = Failed(ErrorKind.INTERNAL, "42", "out of luck", Undone.STATEMENT)
    monkeypatch.setattr(Scratch, "run", lambda _self, _sql: broken)
    run = examined(FIGURE_15)
    (verdict,) = run.verdicts
    assert verdict.violation is not None
    witness = verdict.violation.witness
    assert isinstance(witness, CrashWitness)
    assert (verdict.kind, witness.transactional, witness.error) == (
        ViolationKind.CRASH,
        False,
        ErrorKind.INTERNAL,
    )
    assert "run again without transactions" in print_verdicts(run.history, run.verdicts)


def test_a_wrong_answer_without_transactions_is_classed_as_not_transactional(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Scratch.run

    def wrong(self: Scratch, sql: str) -> object:
        outcome = right(self, sql)
        return replace(outcome, rows=()) if isinstance(outcome, Rows) else outcome

    monkeypatch.setattr(Scratch, "run", wrong)
    (verdict,) = examined(FIGURE_15).verdicts
    assert verdict.violation is not None
    assert isinstance(verdict.violation.witness, UntransactedWitness)
    assert verdict.violation.witness.transactional is False


def test_a_row_that_a_statement_waited_for_and_found_gone_was_seen_gone() -> None:
    script = "1 BEGIN\n1 DELETE FROM t WHERE id = 1\n2 UPDATE t SET v = 1 WHERE v = 10\n1 COMMIT"
    run = examined(script, RC, "simulated?engine=recheck")
    assert run.verdicts[0].judgement is Judgement.PASS
    assert edges_of(run.history) == {(1, 2)}


def test_a_commit_of_which_half_is_seen_shows_and_nothing_is_left_out() -> None:
    script = """2 BEGIN
2 UPDATE t SET v = v - 5 WHERE id = 1
2 UPDATE t SET v = v + 5 WHERE id = 2
2 COMMIT
1 SELECT * FROM t"""
    verdict = verdict_of(script, RC, "simulated@torn-commit?engine=recheck")
    assert verdict.violation is not None
    assert isinstance(verdict.violation.witness, UntransactedWitness)
    assert verdict.violation.witness.removed == ()


# -- which statements


def test_what_a_transaction_took_back_is_left_out() -> None:
    script = """1 BEGIN
1 UPDATE t SET v = 11 WHERE id = 1
1 SAVEPOINT s
1 UPDATE t SET v = 12 WHERE id = 1
1 SELECT * FROM t
1 ROLLBACK TO s
1 SELECT v FROM t
1 COMMIT"""
    run = examined(script)
    assert run.verdicts[0].judgement is Judgement.PASS
    assert graph_of(run.history, HistoryWalk(run.history))[0] == (1, 6)


def test_what_failed_or_was_rolled_back_is_left_out() -> None:
    script = """1 BEGIN
1 INSERT INTO t VALUES (1, 1)
1 SELECT * FROM t
1 COMMIT
2 BEGIN
2 DELETE FROM t
2 ROLLBACK"""
    run = examined(script)
    assert run.verdicts[0].judgement is Judgement.PASS
    assert graph_of(run.history, HistoryWalk(run.history))[0] == (2,)


def test_a_key_is_taken_after_it_is_free() -> None:
    history = examined("1 DELETE FROM t WHERE id = 1\n2 INSERT INTO t VALUES (1, 7)", SER, "sqlite").history
    assert (0, 1) in edges_of(history)


def test_a_row_is_referred_to_while_it_is_there() -> None:
    setup = """CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1);
CREATE TABLE c (id INT PRIMARY KEY, p INT REFERENCES p (id));"""
    script = "1 INSERT INTO p VALUES (2)\n2 INSERT INTO c VALUES (1, 2)\n1 DELETE FROM c\n2 DELETE FROM p"
    history = examined(script, SER, "sqlite", setup).history
    assert {(0, 1), (1, 2), (2, 3)} <= edges_of(history)


# -- orders


def test_the_statement_on_most_cycles_goes_first() -> None:
    assert cycle_breakers([(1, 2), (2, 1), (2, 3), (3, 2), (3, 4)]) == [2]
    assert cycle_breakers([(1, 2), (2, 3)]) == []
    assert sorted(cycle_breakers([(1, 2), (2, 1), (3, 4), (4, 3)])) == [1, 3]


def test_a_random_order_keeps_every_dependency_and_is_made_by_its_dice() -> None:
    edges = [(4, 1), (1, 3), (2, 3)]
    orders = {random_order(range(5), edges, Random(seed)) for seed in range(50)}
    assert len(orders) > 5
    for order in orders:
        assert sorted(order) == [0, 1, 2, 3, 4]
        assert all(order.index(one) < order.index(other) for one, other in edges)
    assert random_order(range(5), edges, Random(1)) == random_order(range(5), edges, Random(1))


def test_orders_are_counted_up_to_a_limit() -> None:
    assert count_orders(range(3), [], 100) == 6
    assert count_orders(range(3), [(0, 1), (1, 2)], 100) == 1
    assert count_orders(range(12), [], 1000) == 1000


def test_a_trace_with_a_gap_is_not_trusted() -> None:
    history = examined(FIGURE_15).history
    walk = HistoryWalk(history)
    assert walk.trace is not None
    walk.__dict__["trace"] = replace(walk.trace, gaps=("something is missing",))
    with pytest.raises(UndecidedError, match="something is missing"):
        graph_of(history, walk)
