"""`graph` (Adya, the ReplBug thesis): the phenomena of a run's trace against what the claim excludes."""

from collections.abc import Iterable

from acidtest.claims import Claims
from acidtest.graph import Occurrence
from acidtest.model import History, Verdict, Violation, ViolationKind, passed, unknown, violated
from acidtest.oracles.explaining import explained
from acidtest.oracles.walks import HistoryWalk, Walks
from acidtest.targets import Target

NAME = "graph"


class GraphOracle:
    """Judges by the trace of the evaluator's walk; the DBMS is not asked."""

    name = NAME

    def __init__(self, _target: Target, walks: Walks) -> None:
        self._walks = walks

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None where the walk itself found a violation, so that there is no trace to trust."""
        verdict = judge_walk(self._walks.of(history))
        if verdict is None:
            return None
        return explained(history, verdict, lambda claims: judge_walk(HistoryWalk(history, claims)))

    def close(self) -> None:
        """Nothing is held."""


def judge(history: History) -> Verdict | None:
    """Judge one history by itself."""
    return judge_walk(HistoryWalk(history))


def judge_walk(walk: HistoryWalk) -> Verdict | None:
    """Judge by a walk that was made before."""
    claims = walk.claims
    if walk.verdict.is_violation or claims is None:
        return None
    if walk.trace is None or walk.occurrences is None:
        return unknown(NAME, walk.verdict.reason)
    forbidden = [one for one in walk.occurrences if is_excluded(one, claims)]
    if (found := forbidden_phenomenon(forbidden, claims)) is not None:
        return violated(NAME, found)
    if forbidden:
        name = forbidden[0].phenomenon.text
        return unknown(NAME, f"a possible {name}: it is not known which rows a statement depends on")
    if walk.trace.gaps:
        return unknown(NAME, walk.trace.gaps[0])
    return passed(NAME, tuple(one.phenomenon for one in walk.occurrences))


def forbidden_phenomenon(occurrences: Iterable[Occurrence], claims: Claims) -> Violation | None:
    """The first that surely happened and that the claims exclude."""
    for one in occurrences:
        if one.exact and is_excluded(one, claims):
            return _violation(one)
    return None


def is_excluded(one: Occurrence, claims: Claims) -> bool:
    """Whether everyone who takes part was promised that it cannot happen."""
    sessions = {session for _, session in one.witness.sessions}
    return all(one.phenomenon in claim.excludes for session in sessions for claim in claims.used(session))


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
