"""From a suspicious history to a finding: re-run, reduce, sign, compare with known bugs, try other levels."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from acidtest import __version__
from acidtest.casefile import print_case
from acidtest.errors import AcidtestError, TargetFailedError, UsageError
from acidtest.execute import Executor
from acidtest.findings.finding import Finding, Sighting
from acidtest.findings.known import KnownBugs
from acidtest.findings.prose import explanation, level_of, summary
from acidtest.findings.same_bug import SameBug
from acidtest.model import Case, History, Judgement, Verdict
from acidtest.oracles.phenomena import phenomena
from acidtest.oracles.registry import Oracle, judge_all
from acidtest.reduce import Limits, Reduction, reduce_case
from acidtest.report import print_history, print_verdicts, verdict_to_json
from acidtest.signatures import Signature, first_violation, signature_of

RERUNS = 10
REDUCTION_S_MAX = 120.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a violation, so far as the server could be asked."""

    history: History
    verdict: Verdict
    verdicts: tuple[Verdict, ...]
    reduction: str
    """How it was reduced, or why not."""
    shown: int = 0
    runs: int = 0
    bugs: tuple[str, ...] = ()
    levels: tuple[Sighting, ...] = ()


class Investigator:
    """Investigates the violations of one target, with the executor that found them.

    `judges` are the oracles of the campaign; `all_judges` give their verdicts on what goes into the report.
    """

    def __init__(self, executor: Executor, judges: list[Oracle], all_judges: list[Oracle]) -> None:
        self._executor = executor
        self._judges = judges
        self._all_judges = all_judges
        self._known = KnownBugs(executor, judges)

    def investigate(
        self, history: History, verdicts: Iterable[Verdict], *, seed: int | None = None, progress: Progress
    ) -> Finding:
        """The finding that a history with a violation comes to. It is told also if the server goes away for
        good, which may be what was found."""
        verdicts = tuple(verdicts)
        verdict = first_violation(verdicts)
        assert verdict is not None
        try:
            evidence = self._look_into(history, verdict, seed, progress)
        except TargetFailedError as lost:
            evidence = Evidence(history, verdict, verdicts, f"neither run again nor reduced: {lost}")
        return self._finding(evidence, history.case, seed)

    def _look_into(
        self, history: History, verdict: Verdict, seed: int | None, progress: Progress
    ) -> Evidence:
        signature = signature_of(history, verdict)
        judge = next(one for one in self._judges if one.name == verdict.oracle)
        progress("running it again")
        once = SameBug(self._executor, judge, signature)
        shown = _times(once, history.case)
        reduction, failure = None, "not reduced: it did not show again"
        if shown:
            gate = SameBug(self._executor, judge, signature, rate=shown / RERUNS)
            try:
                reduction = self._reduce(gate.start_from(history), gate, seed, progress)
            except AcidtestError:
                raise
            except Exception as error:  # a defect of the reducer must not cost the finding
                failure = f"the reduction failed: {type(error).__name__}: {error}"
                progress(failure)
            history, verdict = gate.last_seen or (history, verdict)
            shown = _times(once, history.case)
        progress("trying every level")
        signature = signature_of(history, verdict)
        return Evidence(
            history,
            verdict,
            verdicts=judge_all(self._all_judges, history),
            reduction=_told(reduction) if reduction is not None else failure,
            shown=shown,
            runs=RERUNS,
            bugs=self._known.named(signature),
            levels=tuple(self._at_levels(history.case, signature)),
        )

    def _reduce(self, case: Case, gate: SameBug, seed: int | None, progress: Progress) -> Reduction:
        return reduce_case(
            case,
            self._executor.target.dialect,
            gate.interesting,
            reordering=gate.reordering,
            rng=Random(f"{seed}-{case.id}"),
            limits=Limits(seconds_max=REDUCTION_S_MAX),
            progress=lambda step: progress(f"reducing, {step.statements} statements"),
        )

    # -- telling

    def _finding(self, evidence: Evidence, original: Case, seed: int | None) -> Finding:
        history, verdict, verdicts = evidence.history, evidence.verdict, evidence.verdicts
        signature = signature_of(history, verdict)
        target = self._executor.target
        return Finding(
            signature=signature.text,
            digest=signature.digest,
            parts=signature.to_json(),
            kind=str(verdict.kind),
            target=target.label,
            dbms=target.dbms,
            version=target.version,
            settings=dict(history.settings),
            level=level_of(history),
            oracles=tuple(one.oracle for one in verdicts if one.judgement is Judgement.VIOLATION),
            summary=summary(history, verdict),
            minimal=print_case(history.case),
            observed=print_history(history) + print_verdicts(history, verdicts, phenomena(history)),
            original=print_case(original),
            verdicts=tuple(map(verdict_to_json, verdicts)),
            explanation=tuple(explanation(history, verdict)),
            shown=evidence.shown,
            runs=evidence.runs,
            reduction=evidence.reduction,
            known=evidence.bugs,
            behaviour=verdict.known.name if verdict.known is not None else "",
            behaviour_link=verdict.known.link if verdict.known is not None else "",
            levels=evidence.levels,
            seed=seed,
            case=original.id,
            log=target.log_tail() if history.server_died else "",
            acidtest=__version__,
        )

    def _at_levels(self, case: Case, signature: Signature) -> Iterable[Sighting]:
        """What becomes of the case at each level of the target."""
        target = self._executor.target
        for level in target.levels:
            try:
                history = self._executor.run(case.at_level(level), fresh=True)
            except UsageError as refused:
                yield Sighting(target.label, target.version, level.short, "not run", str(refused))
                continue
            verdicts = judge_all(self._judges, history)
            found, detail = seen_as(history, verdicts, signature.digest)
            yield Sighting(target.label, target.version, level.short, found, detail)


def _times(bug: SameBug, case: Case) -> int:
    """In how many of some runs the bug shows."""
    return sum(bug.look(case) is not None for _ in range(RERUNS))


def seen_as(history: History, verdicts: Iterable[Verdict], digest: str) -> tuple[str, str]:
    """How a run elsewhere compares with a finding, and why where that is worth a word."""
    verdicts = tuple(verdicts)
    violation = first_violation(verdicts)
    if violation is not None:
        signature = signature_of(history, violation)
        return ("shows", "") if signature.digest == digest else ("another violation", signature.text)
    unknown = [one for one in verdicts if one.judgement is Judgement.UNKNOWN]
    if unknown and not any(one.judgement is Judgement.PASS for one in verdicts if one.oracle != "crash"):
        return "undecided", unknown[0].explanation
    return "does not show", ""


def _told(reduction: Reduction) -> str:
    return (
        f"{len(reduction.original.steps)} to {len(reduction.case.steps)} statements "
        f"in {reduction.runs} runs ({reduction.stopped})"
    )
