"""From a walk along a history to a verdict."""

from collections.abc import Callable

from acidtest.claims import claims_of
from acidtest.model import History, Judgement, Verdict
from acidtest.oracles.engine import Engine, UndecidedError
from acidtest.oracles.explain import explain
from acidtest.oracles.orders import other_orders, released_together
from acidtest.oracles.replay import Replay, ViolationError


def judge_with(oracle: str, history: History, make_engine: Callable[[], Engine]) -> Verdict:
    """Walk along the history with an engine; a violation must stand in every order of effect that is open."""
    verdict = _walk(oracle, history, make_engine)
    if verdict.judgement is not Judgement.VIOLATION:
        return verdict
    for other in other_orders(history):
        if _walk(oracle, other, make_engine).judgement is Judgement.PASS:
            return Verdict(oracle, Judgement.PASS)
    if any(verdict.step in group for group in released_together(history)):
        return unknown(oracle, "sessions that were released together ran at the same time")
    return verdict


def _walk(oracle: str, history: History, make_engine: Callable[[], Engine]) -> Verdict:
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
