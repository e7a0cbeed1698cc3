"""The gate of a reduction, and the case that it begins with."""

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.findings.deeds import Act, Deed
from acidtest.findings.signature import signature_of
from acidtest.investigation.same_bug import SameBug, as_launched
from acidtest.model import Level
from acidtest.model.trace import Fate
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


def test_the_gate_never_lets_a_cause_come_back() -> None:
    more = DIRTY.format(end="COMMIT").replace(
        "-- schedule\n", "-- schedule\n/* tx2 */ INSERT INTO t VALUES (3);\n"
    )
    level = Level.READ_COMMITTED
    with open_target("simulated@dirty-read") as target, Examiner(target, ["solver"]) as examiner:
        examined = examiner.examine(parse_case(more, "dirty").at_level(level))
        assert examined.violation is not None
        signature = signature_of(examined.history, examined.violation)
        assert signature.others == {Deed(Act.INSERT, Fate.COMMITTED), Deed(Act.UPDATE, Fate.OPEN)}
        fewer = parse_case(DIRTY.format(end="COMMIT"), "dirty").at_level(level)
        gate = SameBug(examiner, "solver", signature)
        assert gate.interesting(examined.history.case)
        assert gate.interesting(fewer)
        assert not gate.interesting(examined.history.case)
