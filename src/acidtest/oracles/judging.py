"""From a walk along a history to a verdict."""

from collections.abc import Callable

from acidtest.claims import claims_of
from acidtest.model import History, Judgement, Verdict
from acidtest.oracles.engine import Engine, UndecidedError
from acidtest.oracles.explain import explain
from acidtest.oracles.replay import Replay, ViolationError


def judge_with(oracle: str, history: History, make_engine: Callable[[], Engine]) -> Verdict:
    """Walk along the history with an engine."""
    claims = claims_of(history)
    if claims is None:
        return unknown(oracle, f"nothing is written down about what {history.dbms} promises")
    try:
        replay = Replay(history, claims, make_engine())
    except UndecidedError as undecided:
        return unknown(oracle, undecided.reason)
    try:
        replay.run()
    except UndecidedError as undecided:
        return unknown(oracle, undecided.reason)
    except ViolationError as violation:
        return explain(oracle, replay, violation)
    if replay.undecided:
        return unknown(oracle, replay.undecided[0])
    return Verdict(oracle, Judgement.PASS)


def unknown(oracle: str, reason: str) -> Verdict:
    """No judgement, and why."""
    return Verdict(oracle, Judgement.UNKNOWN, explanation=reason)
