"""Verdicts as comments: whatever they say, the print stays a case file."""

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.model import Judgement, Verdict, ViolationKind
from acidtest.report import print_history, print_verdicts
from acidtest.targets.resolve import open_target

CASE = parse_case("-- setup\nCREATE TABLE t (a INT);\n-- schedule\n/* tx1 */ SELECT * FROM t;\n", "one")


def test_an_explanation_of_several_lines_stays_a_comment() -> None:
    with open_target("simulated") as target, Executor(target) as executor:
        history = executor.run(CASE)
    verdicts = [
        Verdict(
            "serial",
            Judgement.VIOLATION,
            ViolationKind.NOT_SERIALIZABLE,
            explanation="no order fits\ntx1, tx2: other rows\ntx2, tx1: \x1b[31mred",
            expected="one\nof two",
        ),
        Verdict("crash", Judgement.UNKNOWN, explanation="first\nsecond"),
    ]
    printed = print_verdicts(history, verdicts, ["lost update"])
    assert all(line.startswith("-- ") for line in printed.splitlines())
    assert "\x1b" not in printed
    again = parse_case(print_history(history) + printed, "again")
    assert [step.sql for step in again.steps] == ["SELECT * FROM t"]
