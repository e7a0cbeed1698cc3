"""Layers, in order, until nothing changes; knows no DBMS, no oracle and no target."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from acidtest.model import Case, Statement, Transaction
from acidtest.reduce.gate import Check, Gate, LimitReachedError, Limits, Progress
from acidtest.reduce.layers import LAYERS
from acidtest.reduce.policies import DEFAULT_POLICY, Policy, policy_of

MINIMAL, LIMIT, INTERRUPTED = "minimal", "limit", "interrupted"


@dataclass(frozen=True, slots=True)
class LayerSteps:
    """What became of the candidates of one layer."""

    layer: str
    runs: int
    kept: int


@dataclass(frozen=True, slots=True)
class Reduction:
    """The simplest case that was found, and what it took.

    `tried` counts candidates that were simpler than the best, `cached` those of them whose answer was known,
    `runs` those that were run. `stopped` says why there are no more: minimal, limit or interrupted.
    """

    case: Case
    original: Case
    runs: int
    cached: int
    tried: int
    kept: int
    steps: tuple[LayerSteps, ...]
    stopped: str


def reduce_case(
    case: Case,
    dialect: str,
    interesting: Check,
    *,
    rng: Random,
    policy: str = DEFAULT_POLICY,
    limits: Limits | None = None,
    reordering: Check | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reduction:
    """The simplest case that `interesting` still holds for, which it is taken to do for `case` itself.

    `interesting` runs a candidate again; one whose set-up is refused (`UsageError`) is not interesting.
    `reordering` is asked instead where statements change places. `dialect` is sqlglot's name of the SQL.
    Ctrl-C within a run ends the reduction with the best case so far.
    """
    gate = Gate(
        _without_expectations(case), interesting, reordering or interesting, limits or Limits(), progress
    )
    chosen = policy_of(policy)(rng)
    try:
        _simplify(gate, chosen, dialect)
        stopped = MINIMAL
    except LimitReachedError:
        stopped = LIMIT
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    steps = tuple(LayerSteps(one.name, gate.runs_of[one.name], gate.kept_of[one.name]) for one in LAYERS)
    return Reduction(gate.best, case, gate.runs, gate.cached, gate.tried, gate.kept, steps, stopped)


def _simplify(gate: Gate, policy: Policy, dialect: str) -> None:
    before = None
    while before != gate.best:
        before = gate.best
        for layer in LAYERS:
            gate.layer = layer.name
            policy.simplify(layer, gate, dialect)


def _without_expectations(case: Case) -> Case:
    """Expectations speak of the case as it was; the oracles judge what is left of it."""
    return replace(
        case,
        setup=tuple(Statement(one.sql) for one in case.setup),
        transactions=tuple(_bare(one) for one in case.transactions),
        expect_final=(),
    )


def _bare(transaction: Transaction) -> Transaction:
    return replace(transaction, statements=tuple(replace(one, expect=()) for one in transaction.statements))
