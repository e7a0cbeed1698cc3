"""TxCheck's Tables 4 and 5 on findings of our own: would another order of statements have shown the bug, and
would a graph of transactions have been without cycles?

Subjects are bugs of the corpus that show on a server, and random cases that show a planted fault, as they
were generated. TxCheck's numbers are those of its 19 bugs (OSDI 2023, section 5.3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from acidtest.casefile import runs_on
from acidtest.corpus import bugs
from acidtest.errors import TargetFailedError, UsageError
from acidtest.examine import Examiner
from acidtest.generate import SIMPLE, generate_cases
from acidtest.graph import project, statement_dependencies
from acidtest.graph.cycles import strong_parts
from acidtest.model import Case, History, Level, UntransactedWitness, Verdict, ViolationKind
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.statement_order import all_orders, count_orders, random_order
from acidtest.oracles.untransacted import NAME, Plan, UntransactedOracle, trace_of
from acidtest.oracles.walks import HistoryWalk, Walks
from acidtest.selftest import SPEAKS
from acidtest.simulated import faults_of, levels_of, spec_of
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

COUNTED_MAX = 10_000
"""Orders are counted up to here, as in the paper."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """What TxCheck's authors counted for a DBMS: test cases (Table 4), those with a cycle in the graph of
    transactions, test cases with orders (Table 5), and those of which every order shows the bug."""

    dbms: str
    cases: int
    cyclic: int
    with_orders: int
    always: int


PAPER = (
    PaperRow("tidb", 11, 3, 10, 9),
    PaperRow("mysql", 4, 1, 4, 4),
    PaperRow("mariadb", 4, 2, 4, 4),
)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A case that shows a bug. `orders` there are (up to a limit), so many were `tried`, and so many of these
    `triggered` it; none of them count if a forbidden cycle shows it, as for the paper's bug 4."""

    name: str
    target: str
    dbms: str
    level: str
    planted: bool
    cyclic: bool
    by_cycle: bool
    orders: int = 0
    tried: int = 0
    triggered: int = 0
    removed: int = 0


def evaluate_corpus(specs: Sequence[str], orders_max: int) -> Iterator[Evaluated]:
    """The bugs of the corpus that `replay` sees, on each of these targets."""
    for spec in specs:
        with open_target(spec) as target, Examiner(target, [NAME]) as examiner:
            for case in bugs():
                if not runs_on(case, target.dbms, target.version):
                    continue
                found = _evaluated(target, examiner, case, orders_max, planted=False)
                if found is not None:
                    yield found


def evaluate_planted(
    engines: Sequence[str], seed: int, cases_max: int, orders_max: int
) -> Iterator[Evaluated]:
    """For each planted fault, the first random case that shows it to `replay`."""
    for engine in engines:
        for fault in faults_of(engine):
            with open_target(spec_of(engine, fault)) as target, Examiner(target, [NAME]) as examiner:
                for case in _random_cases(engine, fault.name, seed, cases_max, levels_of(fault, engine)):
                    found = _evaluated(target, examiner, case, orders_max, planted=True)
                    if found is not None:
                        yield found
                        break


def _random_cases(engine: str, fault: str, seed: int, count: int, levels: Sequence[Level]) -> Iterator[Case]:
    for level in levels:
        dice = Random(f"{seed}/{engine}/{fault}/{level.short}")
        yield from islice(generate_cases(dice, SIMPLE, SPEAKS, (level,)), count)


def _evaluated(
    target: Target, examiner: Examiner, case: Case, orders_max: int, planted: bool
) -> Evaluated | None:
    """What a case comes to; None if it shows nothing here."""
    try:
        examined = examiner.examine(case, fresh=True)
    except UsageError:
        return None  # the target lacks the level, or refuses the set-up
    verdict = examined.violation
    if verdict is None or verdict.oracle != NAME or verdict.kind is ViolationKind.CRASH:
        return None
    history = examined.history
    walk = HistoryWalk(history)
    levels = {level.short for level in history.levels.values()}
    told = (case.id, target.label, target.dbms, "+".join(sorted(levels)), planted, _is_cyclic(history, walk))
    if not _is_by_order(verdict):
        return Evaluated(*told, by_cycle=True)
    oracle = UntransactedOracle(target, Walks())
    try:
        plan = oracle.plan(history, walk)
        counts = _counts(oracle, plan, orders_max)
    except (UndecidedError, TargetFailedError):
        return None
    finally:
        oracle.close()
    return Evaluated(*told, False, *counts, removed=len(plan.removed))


def _is_by_order(verdict: Verdict) -> bool:
    return verdict.violation is not None and isinstance(verdict.violation.witness, UntransactedWitness)


def _is_cyclic(history: History, walk: HistoryWalk) -> bool:
    """Whether the transactions depend on each other in a circle (Table 4)."""
    return bool(strong_parts(project(statement_dependencies(trace_of(history, walk)))))


def _counts(oracle: UntransactedOracle, plan: Plan, orders_max: int) -> tuple[int, int, int]:
    """How many orders there are, how many were tried, and how many of these show it (Table 5)."""
    total = count_orders(plan.steps, plan.edges, COUNTED_MAX)
    if total <= orders_max:
        orders = list(all_orders(plan.steps, plan.edges))
    else:
        dice = Random(plan.history.case.id)
        orders = [random_order(plan.steps, plan.edges, dice) for _ in range(orders_max)]
    triggered = sum(oracle.try_order(plan, order) is not None for order in orders)
    return total, len(orders), triggered
