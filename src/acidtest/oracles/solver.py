"""`solver` (Fucci): version chains and an evaluator of our own give every result and every wait."""

from acidtest.model import History, Verdict
from acidtest.oracles.evaluating import engine_for
from acidtest.oracles.judging import judge_with

NAME = "solver"


def judge(history: History) -> Verdict:
    """Judge a history without touching the DBMS."""
    return judge_with(NAME, history, lambda: engine_for(history.dbms, history.schema, history.version))
