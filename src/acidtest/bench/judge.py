"""`acidtest bench judge`: what running and judging a case costs, per oracle, against the bare driver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from acidtest.bench.cases import bench_cases
from acidtest.bench.execute import CASES_PER_TURN, Bare, time_of
from acidtest.examine import Examiner
from acidtest.model import Case, Judgement
from acidtest.targets import Target


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """What was measured for one oracle and one kind of case on one target."""

    target: str
    version: str
    oracle: str
    kind: str
    cases: int
    ratio: float
    cases_per_minute: float
    judging_share: float
    undecided: int


def bench_judge(
    target: Target, oracles: Sequence[str], cases: int, on_step: Callable[[str], object]
) -> list[JudgeResult]:
    """Measure run and verdict for every oracle and kind of case, at the target's default level."""
    results = []
    for kind, case in bench_cases(waits=target.watch() is not None).items():
        for oracle in oracles:
            on_step(f"{oracle}, {kind}")
            results.append(_measure(target, oracle, kind, case, cases))
    return results


def _measure(target: Target, oracle: str, kind: str, case: Case, cases: int) -> JudgeResult:
    whole_s = run_s = bare_s = 0.0
    undecided = done = 0

    def run_and_judge() -> None:
        nonlocal undecided, run_s
        histories = []
        run_s += time_of(lambda: histories.append(examiner.executor.run(case)), 1)
        verdicts = examiner.judge(histories[0])
        undecided += any(verdict.judgement is Judgement.UNKNOWN for verdict in verdicts)

    with Examiner(target, [oracle]) as examiner:
        bare = Bare(target, examiner.executor.run(case))
        try:
            while done < cases:
                turn = min(CASES_PER_TURN, cases - done)
                whole_s += time_of(run_and_judge, turn)
                bare_s += time_of(bare.run, turn)
                done += turn
        finally:
            bare.close()
    return JudgeResult(
        target=target.label,
        version=target.version,
        oracle=oracle,
        kind=kind,
        cases=cases,
        ratio=whole_s / bare_s,
        cases_per_minute=60 * cases / whole_s,
        judging_share=1 - run_s / whole_s,
        undecided=undecided,
    )
