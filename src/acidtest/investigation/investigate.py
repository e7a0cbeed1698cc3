"""From a suspicious history to a finding: re-run, reduce, sign, compare with known bugs, try other levels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from acidtest import __version__
from acidtest.casefile import print_case
from acidtest.errors import AcidtestError, TargetFailedError, UsageError
from acidtest.examine import Examined, Examiner
from acidtest.findings.finding import Finding, Sighting
from acidtest.findings.signature import Signature, signature_of
from acidtest.investigation.resembling import KnownBugs
from acidtest.investigation.same_bug import SameBug, look
from acidtest.investigation.trying import NOT_RUN, SHOWS, Seen, try_out
from acidtest.model import Case, History, Verdict
from acidtest.oracles.registry import ORACLES
from acidtest.reduce import Limits, Reduction, reduce_case
from acidtest.report import disagreement, print_history, print_verdicts, verdict_to_json
from acidtest.report.prose import explanation, level_of, summary
from acidtest.report.signatures import describe

RERUNS = 10
CONFIRMING_RUNS = 3
REDUCTION_S_MAX = 120.0

Progress = Callable[[str], None]


@dataclass(slots=True)
class Evidence:
    """What is known of a violation so far; it grows step by step, and is kept if the server goes away."""

    history: History
    verdict: Verdict
    verdicts: tuple[Verdict, ...]
    reduction: str = "none"
    """How it was reduced, or why not."""
    shown: int = 0
    runs: int = 0
    resembles: tuple[str, ...] = ()
    levels: tuple[Sighting, ...] = ()
    broken_off: str = ""
    """Why there is no more."""

    @property
    def signature(self) -> Signature:
        return signature_of(self.history, self.verdict)


class Investigator:
    """Investigates the violations of one target, with the examiner that found them; every oracle there is
    gives its verdict on what goes into the report."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner
        self._known = KnownBugs(examiner)

    def investigate(self, suspect: Examined, *, seed: int | None = None, progress: Progress) -> Finding:
        """The finding that a history with a violation comes to. It is told also if the server goes away for
        good, which may be what was found."""
        verdict = suspect.violation
        assert verdict is not None
        evidence = Evidence(suspect.history, verdict, suspect.verdicts)
        try:
            self._gather(evidence, seed, progress)
        except TargetFailedError as lost:
            evidence.broken_off = str(lost)
        return self._finding(evidence, suspect.history.case, seed)

    def shows_again(self, suspect: Examined) -> bool:
        """Whether another run of the case shows the same bug; one that is flaky gets a few tries."""
        verdict = suspect.violation
        assert verdict is not None
        signature = signature_of(suspect.history, verdict)
        tries = (look(suspect.history.case, self._examiner, verdict.oracle) for _ in range(CONFIRMING_RUNS))
        return any(seen is not None and signature_of(*seen).is_same(signature) for seen in tries)

    def _gather(self, evidence: Evidence, seed: int | None, progress: Progress) -> None:
        oracle = evidence.verdict.oracle
        progress("running it again")
        once = SameBug(self._examiner, oracle, evidence.signature)
        evidence.shown, evidence.runs = _times(once, evidence.history.case), RERUNS
        if evidence.shown:
            rate = evidence.shown / RERUNS
            gate = SameBug(self._examiner, oracle, evidence.signature, rate=rate)
            try:
                self._reduce(evidence, gate, seed, progress)
            finally:  # as small as it got, whatever ended it
                if gate.last_seen is not None:
                    evidence.history, evidence.verdict = gate.last_seen
                    evidence.verdicts = (evidence.verdict,)
            evidence.shown = _times(once, evidence.history.case)
        else:
            evidence.reduction = "none, it did not show again"
        evidence.verdicts = self._examiner.judge(evidence.history, ORACLES)
        evidence.resembles = self._known.resembled_by(evidence.signature)
        progress("trying every level")
        evidence.levels = tuple(self._at_levels(evidence))

    def _reduce(self, evidence: Evidence, gate: SameBug, seed: int | None, progress: Progress) -> None:
        evidence.reduction = "not to the end"
        start = gate.start_from(evidence.history)
        try:
            reduction = reduce_case(
                start,
                self._examiner.target.dialect,
                gate.interesting,
                reordering=gate.reordering,
                rng=Random(f"{seed}-{start.id}"),
                limits=Limits(seconds_max=REDUCTION_S_MAX),
                progress=lambda step: progress(f"reducing, {step.statements} statements"),
            )
        except AcidtestError:
            raise
        except Exception as error:  # a defect of the reducer must not cost the finding
            evidence.reduction = f"failed: {type(error).__name__}: {error}"
            progress(f"the reduction {evidence.reduction}")
        else:
            evidence.reduction = _told(reduction)

    # -- telling

    def _finding(self, evidence: Evidence, original: Case, seed: int | None) -> Finding:
        history, verdict, verdicts = evidence.history, evidence.verdict, evidence.verdicts
        signature, target = evidence.signature, self._examiner.target
        violation = verdict.violation
        assert violation is not None
        explained, hinted = violation.explained_by, [known.id for known in violation.resembles]
        return Finding(
            signature=describe(signature),
            digest=signature.digest,
            kind=str(verdict.kind),
            target=target.label,
            dbms=target.dbms,
            version=target.version,
            settings=dict(history.settings),
            level=level_of(history),
            oracles=tuple(one.oracle for one in verdicts if one.is_violation),
            summary=summary(history, verdict),
            minimal=print_case(history.case),
            observed=print_history(history) + print_verdicts(history, verdicts),
            original=print_case(original),
            verdicts=tuple(map(verdict_to_json, verdicts)),
            explanation=tuple(explanation(history, verdict)),
            shown=evidence.shown,
            runs=evidence.runs,
            reduction=evidence.reduction,
            broken_off=evidence.broken_off,
            identity=signature,
            run=Examined(history, verdicts),
            explained_by=explained,
            resembles=tuple(dict.fromkeys((*hinted, *evidence.resembles))),
            disagreement=disagreement(verdicts) or "",
            levels=evidence.levels,
            seed=seed,
            case=original.id,
            log=target.log_tail() if history.server_died else "",
            acidtest=__version__,
        )

    def _at_levels(self, evidence: Evidence) -> Iterator[Sighting]:
        """What becomes of the case at each level of the target."""
        target, case = self._examiner.target, evidence.history.case
        tries = RERUNS if evidence.shown < RERUNS else 1
        for level in target.levels:
            if evidence.shown and level.short == level_of(evidence.history):
                seen = SHOWS, ""
            else:
                seen = self._at_level(case.at_level(level), evidence.signature.digest, tries)
            yield Sighting(target.label, target.version, level.short, *seen)

    def _at_level(self, case: Case, digest: str, tries: int) -> Seen:
        try:
            return try_out(self._examiner, case, digest, tries)
        except UsageError as refused:
            return NOT_RUN, str(refused)


def _times(bug: SameBug, case: Case) -> int:
    """In how many of some runs the bug shows."""
    return sum(bug.look(case) is not None for _ in range(RERUNS))


def _told(reduction: Reduction) -> str:
    return (
        f"{len(reduction.original.steps)} to {len(reduction.case.steps)} statements "
        f"in {reduction.runs} runs ({reduction.stopped})"
    )
