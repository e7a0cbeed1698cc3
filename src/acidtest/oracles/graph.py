"""`graph` (Adya, the ReplBug thesis): the phenomena of a run's trace against what the claim excludes.

The trace has two sources: the evaluator's walk along the history, and the versions that an instrumented run
shows. Where both are there they must agree; if they do not, one of them is wrong, and nothing is said of the
DBMS.
"""

from collections.abc import Iterable, Sequence

from acidtest.claims import Claims
from acidtest.graph import Occurrence, phenomena
from acidtest.model import (
    History,
    Judgement,
    Trace,
    Variant,
    Verdict,
    Violation,
    ViolationKind,
    passed,
    unknown,
    violated,
)
from acidtest.oracles.explaining import explained
from acidtest.oracles.observed import observed_trace
from acidtest.oracles.walks import HistoryWalk, Walks
from acidtest.targets import Target

NAME = "graph"


class GraphOracle:
    """Judges by the traces of a run; the DBMS is not asked."""

    name = NAME

    def __init__(self, _target: Target, walks: Walks) -> None:
        self._walks = walks

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None where the walk itself found a violation, so that there is no trace to trust."""
        walk = self._walks.of(history)
        verdict = _judge(history, walk)
        if verdict is None:
            return None

        def again(claims: Claims) -> Verdict | None:
            """Where the walk broke off, a deviation with which it comes to its end explains the whole run."""
            other = HistoryWalk(history, claims)
            return other.verdict if walk.verdict.is_violation else _judge(history, other)

        return explained(history, verdict, again)

    def close(self) -> None:
        """Nothing is held."""


def judge(history: History) -> Verdict | None:
    """Judge one history by itself."""
    return _judge(history, HistoryWalk(history))


def _judge(history: History, walk: HistoryWalk) -> Verdict | None:
    by_walk = judge_walk(walk)
    shown = None if walk.claims is None else observed_trace(history, walk.claims)
    if shown is None or walk.claims is None:
        return by_walk
    return together(walk.verdict, by_walk, judge_trace(shown, phenomena(shown), walk.claims))


def together(walked: Verdict, by_walk: Verdict | None, by_versions: Verdict) -> Verdict | None:
    """What two traces of the same run come to; `walked` is what the walk itself says of it."""
    if by_walk is None:
        # The walk broke off at a violation; what the versions show may give it its name.
        return by_versions if by_versions.is_violation else None
    if by_versions.is_violation == by_walk.is_violation:
        decided = by_walk if by_walk.judgement is not Judgement.UNKNOWN else by_versions
        return decided if by_versions.judgement is not Judgement.UNKNOWN else by_walk
    if by_versions.is_violation and walked.judgement is Judgement.UNKNOWN:
        return by_versions
    if by_walk.is_violation and by_versions.judgement is Judgement.UNKNOWN:
        return by_walk
    violation = by_walk.violation or by_versions.violation
    assert violation is not None
    name = "a cycle" if violation.phenomenon is None else violation.phenomenon.text
    where = "the walk along it does not" if by_versions.is_violation else "only the walk along it does"
    return unknown(NAME, f"its two traces disagree: whether the run has {name}; {where}")


def judge_walk(walk: HistoryWalk) -> Verdict | None:
    """Judge by a walk that was made before."""
    if walk.verdict.is_violation or walk.claims is None:
        return None
    if walk.trace is None or walk.occurrences is None:
        return unknown(NAME, walk.verdict.reason)
    return judge_trace(walk.trace, walk.occurrences, walk.claims)


def judge_trace(trace: Trace, occurrences: Sequence[Occurrence], claims: Claims) -> Verdict:
    """Judge the phenomena of a trace."""
    forbidden = [one for one in occurrences if is_excluded(one, claims)]
    if (found := forbidden_phenomenon(forbidden, claims)) is not None:
        return violated(NAME, found)
    if forbidden:
        name = forbidden[0].phenomenon.text
        return unknown(NAME, f"a possible {name}: it is not known which rows a statement depends on")
    if trace.gaps:
        return unknown(NAME, trace.gaps[0])
    return passed(NAME, tuple(one.phenomenon for one in occurrences if one.variant is Variant.PLAIN))


def forbidden_phenomenon(occurrences: Iterable[Occurrence], claims: Claims) -> Violation | None:
    """The first that surely happened and that the claims exclude."""
    for one in occurrences:
        if one.exact and is_excluded(one, claims):
            return _violation(one)
    return None


def is_excluded(one: Occurrence, claims: Claims) -> bool:
    """Whether everyone who takes part was promised that it cannot happen."""
    sessions = {session for _, session in one.witness.sessions}
    used = [claim for session in sessions for claim in claims.used(session)]
    in_time = one.variant is Variant.PLAIN or all(claim.in_real_time for claim in used)
    return in_time and all(one.phenomenon in claim.excludes for claim in used)


def _violation(one: Occurrence) -> Violation:
    return Violation(
        ViolationKind.FORBIDDEN_PHENOMENON,
        one.step,
        one.witness,
        f"the level excludes {one.phenomenon.text}, and the transactions depend on each other in a circle"
        if len(one.witness.dependencies) > 1
        else f"the level excludes {one.phenomenon.text}",
        one.phenomenon,
    )
