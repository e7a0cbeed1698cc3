"""Verdicts as comments: whatever they say, the print stays a case file."""

from dataclasses import replace

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.model import FailedOrder, OrdersWitness, Phenomenon, Violation, ViolationKind, unknown, violated
from acidtest.report import print_history, print_verdicts
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
