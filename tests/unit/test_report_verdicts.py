"""Verdicts as comments: whatever they say, the print stays a case file."""

from dataclasses import replace

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.execute import Executor
from acidtest.model import (
    FailedOrder,
    Level,
    OrdersWitness,
    Phenomenon,
    Violation,
    ViolationKind,
    unknown,
    violated,
)
from acidtest.oracles.registry import ORACLES
from acidtest.report import print_history, print_verdicts, run_to_json
from acidtest.targets.resolve import open_target

CASE = parse_case("-- setup\nCREATE TABLE t (a INT);\n-- schedule\n/* tx1 */ SELECT * FROM t;\n", "one")


def test_an_explanation_of_several_lines_stays_a_comment() -> None:
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(CASE)
    verdicts = [
        violated(
            "serial",
            Violation(
                ViolationKind.NOT_SERIALIZABLE,
                None,
                OrdersWitness((FailedOrder(("tx1", "tx2"), None, "other\nrows \x1b[31mred"),)),
                because="no order fits\nat all",
            ),
        ),
        replace(unknown("crash", "first\nsecond"), occurred=(Phenomenon.P4,)),
    ]
    printed = print_verdicts(history, verdicts)
    assert all(line.startswith("-- ") for line in printed.splitlines())
    assert "\x1b" not in printed
    assert "lost update (P4)" in printed
    again = parse_case(print_history(history) + printed, "again")
    assert [step.sql for step in again.steps] == ["SELECT * FROM t"]


def test_a_history_without_a_case_is_judged_and_printed() -> None:
    text = """-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2;
/* tx2 */ SELECT * FROM t;
/* tx1 */ ROLLBACK;
"""
    case = parse_case(text, "dirty").at_level(Level.READ_COMMITTED)
    with open_target("simulated@dirty-read") as target, Examiner(target, ORACLES) as examiner:
        history = replace(examiner.executor.run(case), origin=None)
        verdicts = {one.oracle: one for one in examiner.judge(history)}
    assert verdicts["solver"].is_violation
    assert verdicts["views"].reason == "a history without a set-up"
    assert not any(one.defect for one in verdicts.values())
    printed = print_history(history) + print_verdicts(history, list(verdicts.values()))
    assert [step.sql for step in parse_case(printed, "again").steps] == [step.sql for step in case.steps]
    assert run_to_json(history)["case"] == "history"
