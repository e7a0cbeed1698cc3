"""The gate of a reduction, and the case that it begins with."""

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.findings.same_bug import SameBug, as_launched
from acidtest.model import Level
from acidtest.signatures import signature_of
from acidtest.targets.resolve import open_target

QUEUED = """\
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ DELETE FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""
DIRTY = """\
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ {end};
"""


def test_what_queued_behind_a_wait_comes_where_it_was_launched() -> None:
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(parse_case(QUEUED, "queued"))
        case = as_launched(history)
        again = executor.run(case)
    assert [step.sql for step in case.steps][-2:] == ["COMMIT", "SELECT * FROM t"]
    assert [record.outcome for record in again.records][-1] == history.records[3].outcome


def test_the_gate_keeps_the_last_run_that_passed_it() -> None:
    with open_target("simulated@dirty-read") as target, Examiner(target, ["solver"]) as examiner:
        case = parse_case(DIRTY.format(end="COMMIT"), "dirty").at_level(Level.READ_COMMITTED)
        examined = examiner.examine(case)
        history, verdict = examined.history, examined.violation
        assert verdict is not None
        gate = SameBug(examiner, "solver", signature_of(history, verdict))
        assert gate.start_from(history) == case
        assert gate.last_seen is not None
        other = parse_case(DIRTY.format(end="ROLLBACK"), "dirty").at_level(Level.READ_COMMITTED)
        assert gate.interesting(other)
        assert gate.last_seen[0].case == other
        assert not gate.interesting(other.at_level(Level.REPEATABLE_READ))
        assert gate.last_seen[0].case == other


def test_an_exact_gate_lets_no_cause_go() -> None:
    more = DIRTY.format(end="COMMIT").replace(
        "-- schedule\n", "-- schedule\n/* tx2 */ INSERT INTO t VALUES (3);\n"
    )
    level = Level.READ_COMMITTED
    with open_target("simulated@dirty-read") as target, Examiner(target, ["solver"]) as examiner:
        examined = examiner.examine(parse_case(more, "dirty").at_level(level))
        history, verdict = examined.history, examined.violation
        assert verdict is not None
        signature = signature_of(history, verdict)
        assert signature.causes == {"insert", "update still open"}
        fewer = parse_case(DIRTY.format(end="COMMIT"), "dirty").at_level(level)
        assert SameBug(examiner, "solver", signature).interesting(fewer)
        assert not SameBug(examiner, "solver", signature, exact=True).interesting(fewer)
        assert SameBug(examiner, "solver", signature, exact=True).interesting(history.case)
