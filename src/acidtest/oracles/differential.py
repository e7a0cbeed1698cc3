"""`differential` (DT2): the same case on another DBMS or version, and what the two promises say of the rest.

Two DBMSs need not do the same. So a difference alone is nothing: each run is judged under its own claim, and
where both are right the difference has a name and does not count. What is left is a run that breaks its own
promise, and the report says whose, or two runs under one promise that differ although nothing leaves it open.
"""

from dataclasses import replace

from acidtest.claims import Claim, claims_of
from acidtest.claims.incompatibilities import names_of, same_promise
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import DiedLaterError, Executor
from acidtest.model import (
    Breach,
    Case,
    ComparisonWitness,
    DifferenceKind,
    Failed,
    History,
    Judgement,
    Known,
    RunDifference,
    Verdict,
    Violation,
    ViolationKind,
    passed,
    unknown,
    violated,
)
from acidtest.oracles import crash
from acidtest.oracles.comparing import differences, not_understood, same_start
from acidtest.oracles.engines import questions
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.stability import why_unstable
from acidtest.oracles.graph import GraphOracle
from acidtest.oracles.orders import released_together
from acidtest.oracles.replay import OF_THE_DATA
from acidtest.oracles.solver import SolverOracle
from acidtest.oracles.views import ViewsOracle
from acidtest.oracles.walks import Walks
from acidtest.sql.shape import Patience, shape_of
from acidtest.targets import Target

NAME = "differential"


class DifferentialOracle:
    """Runs each case on another target, which stays its owner's."""

    name = NAME

    def __init__(self, target: Target, walks: Walks, against: Target | None = None) -> None:
        self._here = _Side(target, walks)
        self._there = None if against is None else _Side(against, Walks())
        self._executor = None if against is None else Executor(against)

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None if there is nothing to compare with."""
        if self._there is None or self._executor is None:
            return None
        if history.origin is None:
            return unknown(NAME, "a history without a set-up")
        try:
            return self._judge(history, self._there, self._executor)
        except UndecidedError as undecided:
            return unknown(NAME, undecided.reason)

    def close(self) -> None:
        """Give back the sessions and scratch tables on both targets."""
        self._here.close()
        if self._there is not None:
            self._there.close()
        if self._executor is not None:
            self._executor.close()

    def _judge(self, here: History, side: "_Side", executor: Executor) -> Verdict:
        case = _at_its_levels(here)
        there = _run(executor, case)
        found = _compared(here, there)
        if not found:
            return passed(NAME)
        verdict = _weighed(here, there, found, self._here.verdict(here), side.verdict(there))
        if not verdict.is_violation or here.target in _broken(verdict):
            return verdict
        # The other run is to blame. It has to go wrong on fresh tables, too.
        again = _run(executor, case, fresh=True)
        found = _compared(here, again)
        if not found:
            raise UndecidedError(f"{again.target} does not do the same in every run")
        return _weighed(here, again, found, self._here.verdict(here), side.verdict(again))


class _Side:
    """Judges runs of one target under its own claim, by the evaluator first and by the DBMS itself next."""

    def __init__(self, target: Target, walks: Walks) -> None:
        self._solver, self._graph = SolverOracle(target, walks), GraphOracle(target, walks)
        self._views, self._crash = ViewsOracle(target), crash.CrashOracle(target)

    def verdict(self, history: History) -> Verdict:
        """A violation, or whether everything is as promised."""
        if (crashed := self._crash.judge(history)).is_violation:
            return crashed
        verdict = self._solver.judge(history)
        if verdict.judgement is Judgement.UNKNOWN:
            verdict = self._views.judge(history)
        if verdict.judgement is Judgement.PASS:
            cycles = self._graph.judge(history)
            return cycles if cycles is not None and cycles.is_violation else verdict
        return verdict

    def close(self) -> None:
        """Drop the scratch tables."""
        self._views.close()


def _at_its_levels(history: History) -> Case:
    """The case with the levels that it ran at, because defaults differ."""
    levels = history.levels
    transactions = (replace(one, level=levels[one.name]) for one in history.case.transactions)
    return replace(history.case, transactions=tuple(transactions))


def _run(executor: Executor, case: Case, fresh: bool = False) -> History:
    label = executor.target.label
    try:
        return executor.run(case, fresh=fresh)
    except UsageError as refused:
        levels = [one.level for one in case.transactions if one.level is not None]
        missing = [one.value for one in levels if one not in executor.target.levels]
        why = f"has no level {missing[0]}" if missing else "refuses the set-up"
        raise UndecidedError(f"skipped: {label} {why}") from refused
    except DiedLaterError as late:
        raise UndecidedError(f"{label} died after another case") from late
    except TargetFailedError as lost:
        raise UndecidedError(f"{label} was lost") from lost


def _compared(here: History, there: History) -> tuple[RunDifference, ...]:
    if not same_start(here, there):
        raise UndecidedError(f"skipped: the set-up leaves other rows on {there.target}")
    if (target := not_understood(here, there)) is not None:
        raise UndecidedError(f"skipped: {target} does not know a statement of the case")
    died = here.server_died or there.server_died
    return differences(here, there) or (_deaths(here, there) if died else ())


def _deaths(here: History, there: History) -> tuple[RunDifference, ...]:
    """A server that died when all had been answered."""
    last = len(here.records) - 1
    mine, theirs = here.records[last].outcome, there.records[last].outcome
    return (RunDifference(DifferenceKind.ERROR, last, mine, theirs),)


def _weighed(
    here: History, there: History, found: tuple[RunDifference, ...], mine: Verdict, theirs: Verdict
) -> Verdict:
    """Who is right."""
    wrong = [(run, one.violation) for run, one in ((here, mine), (there, theirs)) if one.violation]
    if wrong:
        known = [violation.explained_by for _, violation in wrong]
        explained = tuple(dict.fromkeys(one for some in known for one in some)) if all(known) else ()
        breaches = tuple(Breach(run.target, one.kind, one.step) for run, one in wrong)
        names = " and ".join(run.target for run, _ in wrong)
        return _violated(there, found, breaches, f"{names} must do what its DBMS promises", explained)
    claims = claims_of(here), claims_of(there)
    if claims[0] is None or claims[1] is None:
        nobody = here.dbms if claims[0] is None else there.dbms
        return unknown(NAME, f"nothing is written down about what {nobody} promises")
    session = here.records[found[0].step or 0].session
    pair = (claims[0].at(session, found[0].step or 0), claims[1].at(session, found[0].step or 0))
    if mine.judgement is theirs.judgement is Judgement.PASS:
        return replace(passed(NAME), differences=names_of(found[0], *pair))
    if here.dbms == there.dbms and same_promise(*pair) and _leaves_nothing_open(here, there, found[0], pair):
        return _violated(there, found, (), "under one promise both have to do the same")
    reasons = [f"{run.target} ({one.reason})" for run, one in ((here, mine), (there, theirs)) if one.reason]
    return unknown(NAME, f"the runs differ, and it is not known whether this is right: {', '.join(reasons)}")


def _violated(
    there: History,
    found: tuple[RunDifference, ...],
    breaches: tuple[Breach, ...],
    because: str,
    explained: tuple[Known, ...] = (),
) -> Verdict:
    witness = ComparisonWitness(there, found, breaches)
    kind, step = ViolationKind.DIFFERENT_RUN, found[0].step
    return violated(NAME, Violation(kind, step, witness, because, explained_by=explained))


def _broken(verdict: Verdict) -> tuple[str, ...]:
    """The targets that break their own promise."""
    violation = verdict.violation
    assert violation is not None
    assert isinstance(violation.witness, ComparisonWitness)
    return tuple(one.target for one in violation.witness.breaches)


def _leaves_nothing_open(
    here: History, there: History, first: RunDifference, pair: tuple[Claim, Claim]
) -> bool:
    """Whether two right runs under one promise have to agree in this. Up to the first difference they did."""
    errors = [one.kind for one in (first.here, first.there) if isinstance(one, Failed)]
    if first.kind is DifferenceKind.WAIT or any(one not in OF_THE_DATA for one in errors):
        return False
    if released_together(here) or released_together(there):
        return False
    if any(column.auto_increment for table in here.schema.tables for column in table.columns):
        return False
    steps = here.records if first.step is None else here.records[: first.step + 1]
    shapes = [shape_of(one.sql, pair[0].grammar) for one in steps]
    return not any(
        one is not None and (why_unstable(one) or questions.has_limit(one) or one.patience is Patience.SKIP)
        for one in shapes
    )
