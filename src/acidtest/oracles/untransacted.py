"""`replay` (TxCheck): the statements of the committed transactions, one by one without transactions, in an
order that keeps their dependencies, give the same results and the same final state.

The order comes from what the claim says every statement had to see, so nothing is compared that a level
leaves open: where a write sees more than a plain read of its transaction (InnoDB's REPEATABLE READ, the
paper's Figure 1), the write simply comes later. TxCheck's own way, probes by plain reads, needs a level
without lost updates; this one does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from acidtest.claims import Claims, OnConflict, Sees, claims_of
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import DiedLaterError, Executor
from acidtest.graph import phenomena
from acidtest.model import (
    Affected,
    CrashWitness,
    ErrorKind,
    Failed,
    History,
    Judgement,
    Outcome,
    Record,
    Rows,
    Trace,
    UntransactedWitness,
    Verdict,
    Violation,
    ViolationKind,
    interleave,
    passed,
    same_rows,
    unknown,
    violated,
)
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.evaluating import engine_for
from acidtest.oracles.engines.scratch import Scratch, UnfitError
from acidtest.oracles.explaining import explained
from acidtest.oracles.graph import forbidden_phenomenon
from acidtest.oracles.judging import TOO_BIG, is_too_big, trace_as_promised
from acidtest.oracles.replayable import replayable_steps
from acidtest.oracles.rerunning import agree, is_collision, why_unsure
from acidtest.oracles.serial import committed_units
from acidtest.oracles.spans import with_spans
from acidtest.oracles.statement_order import Edge, cycle_breakers, random_order, statement_edges
from acidtest.oracles.walks import HistoryWalk, Walks
from acidtest.sql.shape import shape_of
from acidtest.targets import Target

NAME = "replay"

ORDERS = 3
"""So many orders are tried. TxCheck tries one; nearly all orders show a bug (its Table 5)."""
ROUNDS_MAX = 5
"""So often a case is run again with fewer statements, until they depend on each other in no circle."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run without transactions: `steps` of a run, and which must come before which.

    `numbers` are the steps' numbers in the case that was judged, and `removed` those that it lost.
    """

    history: History
    walk: HistoryWalk
    steps: tuple[int, ...]
    edges: frozenset[Edge]
    numbers: tuple[int, ...]
    removed: tuple[int, ...]

    def told(self, steps: Sequence[int]) -> tuple[int, ...]:
        """Steps by the numbers of the judged case."""
        return tuple(self.numbers[step] for step in steps)


class UntransactedOracle:
    """Runs statements again on scratch tables of the target's own server, and cases in a database beside."""

    name = NAME

    def __init__(self, target: Target, walks: Walks) -> None:
        self._target, self._walks = target, walks
        self._scratch: Scratch | None = None
        self._executor: Executor | None = None

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None where nothing is written down about what the DBMS promises."""
        claims = claims_of(history)
        if claims is None:
            return None
        try:
            verdict = self._judge(history, self._walks.of(history))
        except UndecidedError as undecided:
            return unknown(NAME, undecided.reason)
        except TargetFailedError as lost:
            self.close()  # the server was restarted since; what we had there went with it
            return unknown(NAME, f"the scratch tables were lost: {lost}")
        return explained(history, verdict, lambda deviating: self._rejudge(history, deviating))

    def close(self) -> None:
        """Drop the scratch tables, and the database beside."""
        if self._scratch is not None:
            self._scratch.close()
        if self._executor is not None:
            self._executor.close()
            self._executor.target.close()
        self._scratch = self._executor = None

    def _rejudge(self, history: History, claims: Claims) -> Verdict | None:
        try:
            return self._judge(history, HistoryWalk(history, claims))
        except (UndecidedError, TargetFailedError) as undecided:
            return unknown(NAME, str(undecided))

    def _judge(self, history: History, walk: HistoryWalk) -> Verdict:
        if is_too_big(history):
            raise UndecidedError(TOO_BIG)
        _require_assumptions(history, walk)
        broken = walk.verdict.is_violation or walk.occurrences is None
        occurrences = phenomena(trace_of(history, walk)) if broken else walk.occurrences or ()
        forbidden = None if walk.claims is None else forbidden_phenomenon(occurrences, walk.claims)
        return self._compare(self.plan(history, walk)) if forbidden is None else violated(NAME, forbidden)

    # -- what to run

    def plan(self, history: History, walk: HistoryWalk) -> Plan:
        """Statements without circles; those that are in the way are taken out, and the rest is run again."""
        numbers = tuple(range(len(history.records)))
        removed: tuple[int, ...] = ()
        for _ in range(ROUNDS_MAX):
            steps, edges = graph_of(history, walk)
            breakers = cycle_breakers(edges)
            if not breakers:
                return Plan(history, walk, steps, frozenset(edges), numbers, removed)
            removed += tuple(numbers[step] for step in breakers)
            kept = [step for step in range(len(numbers)) if step not in breakers]
            numbers = tuple(numbers[step] for step in kept)
            history = self._run_without(history, set(breakers))
            walk = HistoryWalk(history, None if walk.claims is None else walk.claims.renumbered(kept))
        raise UndecidedError("statements depend on each other in circles that do not end")

    def _run_without(self, history: History, steps: set[int]) -> History:
        """A run of the case without these steps."""
        kept = ((one.session, one.statement) for one in history.case.steps if one.index not in steps)
        transactions, schedule = interleave(kept, dict(history.levels))
        case = replace(history.case, transactions=transactions, schedule=schedule)
        try:
            return self._own_executor().run(case)
        except DiedLaterError as late:
            raise UndecidedError("the server died after another case") from late
        except UsageError as refused:
            raise UndecidedError("a set-up that cannot be run a second time") from refused

    def _own_executor(self) -> Executor:
        if self._executor is None:
            self._executor = Executor(self._target.sibling())
        return self._executor

    # -- running it

    def _compare(self, plan: Plan) -> Verdict:
        dice = Random(f"{plan.history.case.id}/{len(plan.steps)}")
        orders = dict.fromkeys(random_order(plan.steps, plan.edges, dice) for _ in range(ORDERS))
        for order in orders:
            verdict = self.try_order(plan, order)
            if verdict is not None:
                return verdict
        return passed(NAME) if not plan.removed else replace(passed(NAME), reason=_left_out(plan))

    def try_order(self, plan: Plan, order: Sequence[int]) -> Verdict | None:
        """The violation that an order shows; None if all is the same."""
        scratch = self._prepared(plan.history)
        for step in order:
            record = plan.history.records[step]
            try:
                outcome = scratch.run(record.sql)
            except TargetFailedError:
                if self._target.is_alive():
                    raise
                return _crashed(plan, step, CrashWitness(died=True, transactional=False))
            if isinstance(outcome, Failed) and outcome.kind is ErrorKind.INTERNAL:
                error = (outcome.kind, outcome.code, outcome.message)
                return _crashed(plan, step, CrashWitness(False, *error, transactional=False))
            if _differs(plan.history, record, outcome, scratch.target.dialect):
                return _violated(plan, order, step, outcome, record.outcome)
        return self._final_state(plan, order, scratch)

    def _prepared(self, history: History) -> Scratch:
        if self._scratch is None:
            self._scratch = Scratch(self._target)
        self._scratch.prepare(history)
        try:
            self._scratch.hold(history.initial)
        except UnfitError as error:
            raise UndecidedError("the first rows cannot be stored again") from error
        self._scratch.forget()
        return self._scratch

    def _final_state(self, plan: Plan, order: Sequence[int], scratch: Scratch) -> Verdict | None:
        assert plan.history.final is not None
        state = scratch.read(list(plan.history.final))
        for table, rows in plan.history.final.items():
            if not same_rows(rows, state[table]):
                expected, observed = Rows((), tuple(state[table])), Rows((), tuple(rows))
                return _violated(plan, order, None, expected, observed, table)
        return None


def graph_of(history: History, walk: HistoryWalk) -> tuple[tuple[int, ...], set[Edge]]:
    """The statements that can be run without transactions, and which must come before which."""
    trace = trace_of(history, walk)
    units = committed_units(history)
    steps = replayable_steps(history, trace, units)
    order = list(history.observed_order)
    if walk.claims is not None and any(one.on_conflict is OnConflict.AT_COMMIT for one in walk.claims.used()):
        order = [record.step for unit in units for record in unit.records]
    return steps, statement_edges(trace, history.schema, steps, order)


def trace_of(history: History, walk: HistoryWalk) -> Trace:
    """What every statement had to see: the walk's own trace if all was right, else that of a walk that goes
    on where it was not."""
    if walk.verdict.is_violation and walk.claims is not None:
        engine = engine_for(history.dbms, history.schema, history.version)
        trace = with_spans(trace_as_promised(history, walk.claims, engine), history, walk.claims)
    elif walk.trace is None:
        raise UndecidedError(walk.verdict.reason)
    else:
        trace = walk.trace
    if trace.gaps:
        raise UndecidedError(trace.gaps[0])
    return trace


def _require_assumptions(history: History, walk: HistoryWalk) -> None:
    """Raise `UndecidedError` where results say nothing about an order of statements."""
    if walk.claims is None:
        raise UndecidedError(f"nothing is written down about what {history.dbms} promises")
    for claim in walk.claims.used():
        if claim.plain_read is Sees.NEWEST:
            raise UndecidedError("at READ UNCOMMITTED a statement may see what no order of statements leaves")
        if claim.subqueries_read_either and claim.write is not Sees.SNAPSHOT:
            raise UndecidedError("it is not laid down which versions a subquery of a write reads")
    for table in history.schema.tables:
        keys = [one.deferrable for one in table.foreign_keys]
        if any(keys) or any(one.deferrable for one in table.indexes):
            raise UndecidedError("constraints that may be checked at COMMIT")


def _differs(history: History, record: Record, outcome: Rows | Affected | Failed, dialect: str) -> bool:
    """Whether a statement came to something else, for no good reason. Raises `UndecidedError` if that cannot
    be told, and what follows depends on it."""
    shape = shape_of(record.sql, dialect)
    if agree(record.outcome, outcome, shape):
        return False
    reason = why_unsure(history, shape)
    if not reason and is_collision(shape, record.outcome, outcome):
        reason = "a duplicate key that may depend on the order in which rows are visited"
    if reason:
        raise UndecidedError(reason)
    return True


def _violated(
    plan: Plan,
    order: Sequence[int],
    step: int | None,
    expected: Rows | Affected | Failed,
    observed: Outcome,
    table: str = "",
) -> Verdict:
    transactional = {Judgement.VIOLATION: True, Judgement.PASS: False}.get(plan.walk.verdict.judgement)
    witness = UntransactedWitness(plan.told(order), expected, observed, table, plan.removed, transactional)
    at = None if step is None else plan.numbers[step]
    because = "one by one, in an order that keeps what each of them had to see, statements do the same"
    return violated(NAME, Violation(ViolationKind.UNTRANSACTED, at, witness, because))


def _left_out(plan: Plan) -> str:
    return f"without steps {', '.join(map(str, plan.removed))}, which depend on each other in a circle"


def _crashed(plan: Plan, step: int, witness: CrashWitness) -> Verdict:
    because = "the server has to go on, with transactions and without"
    return violated(NAME, Violation(ViolationKind.CRASH, plan.numbers[step], witness, because))
