"""`solver` (Fucci): version chains and an evaluator of our own give every result and every wait."""

from acidtest.model import History, Verdict
from acidtest.oracles.explaining import explained
from acidtest.oracles.walks import SOLVER, HistoryWalk, Walks
from acidtest.targets import Target

NAME = SOLVER


class SolverOracle:
    """Judges without touching the DBMS."""

    name = NAME

    def __init__(self, _target: Target, walks: Walks) -> None:
        self._walks = walks

    def judge(self, history: History) -> Verdict:
        """Judge a history."""
        verdict = self._walks.of(history).verdict
        return explained(history, verdict, lambda claims: HistoryWalk(history, claims, traces=False).verdict)

    def close(self) -> None:
        """Nothing is held."""


def judge(history: History) -> Verdict:
    """Judge one history by itself."""
    return HistoryWalk(history).verdict
