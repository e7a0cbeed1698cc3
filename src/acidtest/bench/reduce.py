"""`acidtest bench reduce`: the policies of the reducer on stored findings, as Fucci compares them (4.5)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from random import Random
from statistics import fmean

from acidtest.casefile import load_case
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.findings.signature import Signature, signature_of
from acidtest.investigation.same_bug import SameBug, look
from acidtest.model import Case
from acidtest.reduce import POLICIES, Progress, Reduction, characters, reduce_case
from acidtest.targets import Target

ORACLE = "solver"
MOST = 0.9
"""The share of the whole reduction that a reader would be content with."""


@dataclass(frozen=True, slots=True)
class ReduceResult:
    """What one policy came to, as averages over all findings and seeds.

    `reduction_rate` is the share of characters removed, `validity` the share of runs whose candidate was
    kept (Fucci's two figures); `runs_to_most` is where 90% of the reduction was reached.
    """

    target: str
    version: str
    policy: str
    findings: int
    reductions: int
    reduction_rate: float
    validity: float
    runs: float
    runs_to_most: float
    statements: float
    minimal: int


@dataclass(frozen=True, slots=True)
class _Finding:
    case: Case
    signature: Signature


@dataclass(frozen=True, slots=True)
class _Measured:
    reduction: Reduction
    runs_to_most: int


def stored_findings() -> Path:
    """The folder of unreduced findings that come with acidtest."""
    return Path(str(resources.files("acidtest.bench").joinpath("findings")))


def bench_reduce(
    target: Target, folder: Path, seeds: Sequence[int], on_step: Callable[[str], object]
) -> list[ReduceResult]:
    """Reduce every finding of a folder that shows on the target, with every policy and seed."""
    paths = sorted(folder.glob("*.sql"))
    if not paths:
        raise UsageError(f"there are no case files in {folder}")
    with Examiner(target, (ORACLE,)) as examiner:
        findings = list(_showing(map(load_case, paths), examiner))
        if not findings:
            raise UsageError(f"none of the findings in {folder} shows on {target.label}")
        results = []
        for policy in POLICIES:
            measured = []
            for finding in findings:
                on_step(f"{policy}, {finding.case.id}")
                measured += [_measure(finding, policy, seed, examiner) for seed in seeds]
            results.append(_result(target, policy, len(findings), measured))
    return results


def _showing(cases: Iterator[Case], examiner: Examiner) -> Iterator[_Finding]:
    for case in cases:
        seen = look(case, examiner, ORACLE)
        if seen is not None:
            yield _Finding(case, signature_of(*seen))


def _measure(finding: _Finding, policy: str, seed: int, examiner: Examiner) -> _Measured:
    gate = SameBug(examiner, ORACLE, finding.signature)
    path: list[Progress] = []
    reduction = reduce_case(
        finding.case,
        examiner.target.dialect,
        gate.interesting,
        rng=Random(seed),
        policy=policy,
        reordering=gate.reordering,
        progress=path.append,
    )
    before, after = characters(finding.case), characters(reduction.case)
    enough = before - MOST * (before - after)
    first = next((step.runs for step in path if step.characters <= enough), reduction.runs)
    return _Measured(reduction, first)


def _result(target: Target, policy: str, findings: int, measured: Sequence[_Measured]) -> ReduceResult:
    reductions = [one.reduction for one in measured]
    return ReduceResult(
        target=target.label,
        version=target.version,
        policy=policy,
        findings=findings,
        reductions=len(reductions),
        reduction_rate=fmean(1 - characters(one.case) / characters(one.original) for one in reductions),
        validity=fmean(one.kept / one.runs if one.runs else 0.0 for one in reductions),
        runs=fmean(one.runs for one in reductions),
        runs_to_most=fmean(one.runs_to_most for one in measured),
        statements=fmean(len(one.case.setup) + len(one.case.schedule) for one in reductions),
        minimal=sum(one.stopped == "minimal" for one in reductions),
    )
