"""Findings to test with: real runs of cases on the simulated DBMS with a planted fault, or on a server."""

from collections.abc import Iterator
from dataclasses import replace

from acidtest.casefile import load_case, print_case
from acidtest.examine import Examiner
from acidtest.findings import Finding
from acidtest.findings.signature import signature_of
from acidtest.model import Case, Level, Transaction
from acidtest.oracles.registry import ORACLES
from acidtest.report import print_history, print_verdicts, verdict_to_json
from acidtest.report.prose import explanation, level_of, summary
from acidtest.report.signatures import describe
from acidtest.simulated import case_file, fault_named
from acidtest.targets.resolve import open_target


def planted(name: str, level: Level | None = None) -> Finding:
    """What the case of a planted fault comes to."""
    fault = fault_named(name)
    assert fault is not None
    return found(load_case(case_file(fault)), f"simulated@{name}", level or fault.levels[-1])


def found(case: Case, spec: str, level: Level | None = None) -> Finding:
    """The finding that a case shows on a target, not reduced."""
    case = case.at_level(level)
    case = replace(case, transactions=tuple(_bare(case)), expect_final=())
    with open_target(spec) as target, Examiner(target, ORACLES) as examiner:
        examined = examiner.examine(case, fresh=True)
        label, dbms, version = target.label, target.dbms, target.version
    history, verdicts, verdict = examined.history, examined.verdicts, examined.violation
    assert verdict is not None, "the case shows nothing"
    assert verdict.violation is not None
    signature = signature_of(history, verdict)
    explained = verdict.violation.explained_by
    return Finding(
        signature=describe(signature),
        digest=signature.digest,
        identity=signature,
        run=examined,
        kind=str(verdict.kind),
        target=label,
        dbms=dbms,
        version=version,
        settings=dict(history.settings),
        level=level_of(history),
        oracles=tuple(one.oracle for one in verdicts if one.is_violation),
        summary=summary(history, verdict),
        minimal=print_case(case),
        observed=print_history(history) + print_verdicts(history, verdicts),
        original=print_case(case),
        verdicts=tuple(map(verdict_to_json, verdicts)),
        explanation=tuple(explanation(history, verdict)),
        shown=10,
        runs=10,
        reduction="not at all",
        explained_by=explained,
        seed=7,
        case="7-12",
        seconds=41.4,
        acidtest="0.1.0",
    )


def _bare(case: Case) -> Iterator[Transaction]:
    """Its transactions without expectations, as the reducer leaves them."""
    for transaction in case.transactions:
        statements = tuple(replace(one, expect=()) for one in transaction.statements)
        yield replace(transaction, statements=statements)
