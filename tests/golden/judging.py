"""What the oracles that need no server say of a history."""

from typing import cast

from acidtest.examine import judgement_of
from acidtest.model import History, Judgement, Verdict
from acidtest.oracles.graph import GraphOracle
from acidtest.oracles.solver import SolverOracle
from acidtest.oracles.walks import Walks
from acidtest.targets import Target

UNEXPLAINED = "NEW"
"""How the line of a violation ends that no known deviation explains."""

_NO_TARGET = cast(Target, None)  # neither of the two asks it for anything


def judge(history: History) -> tuple[Verdict, ...]:
    """The verdicts of `solver` and `graph`, with what explains them."""
    walks = Walks()
    solver = SolverOracle(_NO_TARGET, walks).judge(history)
    graph = GraphOracle(_NO_TARGET, walks).judge(history)
    return (solver,) if graph is None else (solver, graph)


def judgement(history: History) -> Judgement:
    """What both say together."""
    return judgement_of(history, judge(history))


def said_of(history: History) -> str:
    """The verdicts on one line: judgement, kind, phenomena and explanation of each."""
    return "; ".join(map(_words, judge(history)))


def _words(verdict: Verdict) -> str:
    words = [f"{verdict.oracle}: {verdict.judgement}"]
    if (violation := verdict.violation) is not None:
        words.append(violation.kind)
        if violation.phenomenon is not None:
            words.append(violation.phenomenon)
        known = " and ".join(one.id for one in violation.explained_by)
        words.append(f"explained by {known}" if known else UNEXPLAINED)
    if verdict.occurred:
        words.append(" ".join(verdict.occurred))
    return ", ".join(words)
