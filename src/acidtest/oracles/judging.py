"""From a walk along a history to a verdict, and to the trace that the walk leaves."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from acidtest.claims import Claims, claims_of
from acidtest.model import History, Judgement, Trace, Verdict, passed, unknown, violated
from acidtest.oracles.engines.base import Engine, UndecidedError
from acidtest.oracles.orders import other_orders, released_together
from acidtest.oracles.replay import Replay, ViolationError
from acidtest.oracles.replay.choices import WAYS_MAX, Choices
from acidtest.oracles.witnesses import violation_of

MakeEngine = Callable[[], Engine]

ROWS_MAX = 20_000
"""Walks and scratch tables hold every row. Beyond so many a case is left undecided, because judging it would
take gigabytes and minutes."""

TOO_BIG = f"tables with more than {ROWS_MAX} rows"


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk says, and the walk itself if it came to the end of the history."""

    verdict: Verdict
    replay: Replay | None = None

    def trace(self) -> Trace | None:
        """What the transactions read and wrote; None if the walk did not come to the end."""
        return None if self.replay is None else self.replay.trace()


def is_too_big(history: History) -> bool:
    """Whether the tables hold more rows than an oracle goes through."""
    return sum(map(len, history.initial.values())) > ROWS_MAX


def judge_with(oracle: str, history: History, make_engine: MakeEngine) -> Walked:
    """Walk along the history with an engine; a violation must stand in every order of effect that is open."""
    claims = claims_of(history)
    if claims is None:
        return Walked(unknown(oracle, f"nothing is written down about what {history.dbms} promises"))
    return judge_under(oracle, history, claims, make_engine)


def judge_under(
    oracle: str, history: History, claims: Claims, make_engine: MakeEngine, traces: bool = False
) -> Walked:
    """The same under claims that need not be those of the DBMS; `traces`: somebody will ask for the trace."""
    if is_too_big(history):
        return Walked(unknown(oracle, TOO_BIG))
    walked = _walk(oracle, history, claims, make_engine, traces)
    if not walked.verdict.is_violation:
        return walked
    others = [_walk(oracle, other, claims, make_engine, traces) for other in other_orders(history)]
    for other in others:
        if other.verdict.judgement is Judgement.PASS:
            return other
    if any(walked.verdict.step in group for group in released_together(history)):
        return Walked(unknown(oracle, "sessions that were released together ran at the same time"))
    for other in others:
        if other.verdict.judgement is Judgement.UNKNOWN:
            return Walked(unknown(oracle, f"in another order of effect: {other.verdict.reason}"))
    return walked


def trace_as_promised(history: History, claims: Claims, engine: Engine) -> Trace:
    """What the transactions had to read and write, whatever they did. Raises `UndecidedError`."""
    replay = Replay(history, claims, engine, traces=True, tolerant=True)
    replay.run()
    return replay.trace()


def _walk(oracle: str, history: History, claims: Claims, make_engine: MakeEngine, traces: bool) -> Walked:
    """The walk in the order of effect that the history has. Where several things may have happened, one way
    that passes is enough, and a violation must stand in all of them."""
    choices = Choices()
    first = _walk_one_way(oracle, history, claims, make_engine, choices, traces)
    doubt = first if first.verdict.judgement is Judgement.UNKNOWN else None
    for _ in range(WAYS_MAX):
        if first.verdict.judgement is Judgement.PASS or not choices.advance():
            return doubt or first
        other = _walk_one_way(oracle, history, claims, make_engine, choices, traces)
        if other.verdict.judgement is Judgement.PASS:
            return other
        if other.verdict.judgement is Judgement.UNKNOWN:
            doubt = other
    return Walked(unknown(oracle, "too many ways in which statements that waited may have gone on"))


def _walk_one_way(
    oracle: str,
    history: History,
    claims: Claims,
    make_engine: MakeEngine,
    choices: Choices,
    traces: bool,
) -> Walked:
    try:
        replay = Replay(history, claims, make_engine(), choices, traces)
    except UndecidedError as undecided:
        return Walked(unknown(oracle, undecided.reason))
    try:
        replay.run()
    except UndecidedError as undecided:
        return Walked(unknown(oracle, undecided.reason))
    except ViolationError as error:
        return Walked(violated(oracle, violation_of(replay, error)))
    verdict = unknown(oracle, replay.undecided[0]) if replay.undecided else passed(oracle)
    if replay.unexplained_conflicts:
        verdict = replace(verdict, unexplained_conflicts=len(replay.unexplained_conflicts))
    return Walked(verdict, replay)
