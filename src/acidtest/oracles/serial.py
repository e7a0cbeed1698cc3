"""`serial`: at SERIALIZABLE some serial order of the committed transactions gives the same results.

This is the definition of serializability, taken by its word: the DBMS runs the committed transactions again
on scratch tables, one after the other, until an order fits or all have been tried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from acidtest.casefile import format_outcome, format_rows
from acidtest.claims import Claims, claims_of
from acidtest.errors import TargetFailedError
from acidtest.model import (
    Affected,
    Blocked,
    Failed,
    FailedOrder,
    History,
    Judgement,
    Omitted,
    OrdersWitness,
    Overran,
    Phenomenon,
    Record,
    Rows,
    TransactionState,
    Undone,
    Verdict,
    Violation,
    ViolationKind,
    passed,
    same_rows,
    unknown,
    violated,
)
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.scratch import Scratch, UnfitError
from acidtest.oracles.explaining import explained
from acidtest.oracles.graph import is_excluded, judge_walk
from acidtest.oracles.judging import TOO_BIG, is_too_big
from acidtest.oracles.replay import OF_THE_DATA
from acidtest.oracles.replay.natures import Nature, nature_of
from acidtest.oracles.rerunning import agree, is_collision, why_numbers, why_unsure
from acidtest.oracles.walks import HistoryWalk, Walks
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Verb, shape_of
from acidtest.targets import Target

NAME = "serial"

TRANSACTIONS_MAX = 5
"""All orders of so many transactions are tried (120); of more only the likely ones."""

_ROW_KINDS = (StatementKind.QUERY, StatementKind.WRITE)


@dataclass(slots=True)
class Unit:
    """A committed transaction, or a statement that committed by itself."""

    name: str
    first_step: int
    records: list[Record] = field(default_factory=list)
    committed_at: int | None = None
    """Its place among the completions; None if it did not commit."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an order of transactions goes another way than the history; `at` counts its transactions."""

    at: int
    step: int | None
    text: str
    is_read: bool = False
    sure: bool = True


class SerialOracle:
    """Runs serial orders on scratch tables of the target's own server."""

    name = NAME

    def __init__(self, target: Target, walks: Walks | None = None) -> None:
        self._target = target
        self._walks = walks or Walks()
        self._scratch: Scratch | None = None

    def judge(self, history: History) -> Verdict | None:
        """The verdict; None unless all sessions ran at a level that promises serializability."""
        claims = claims_of(history)
        if claims is None or not all(claim.serializable for claim in claims.used()):
            return None
        if is_too_big(history):
            return unknown(NAME, TOO_BIG)
        if self._is_surely_serializable(history, claims):
            return passed(NAME)
        try:
            return self._explained(history, self._judge(history))
        except UndecidedError as undecided:
            return unknown(NAME, undecided.reason)
        except TargetFailedError:
            self.close()  # the server was restarted since; the scratch tables went with it
        try:
            return self._explained(history, self._judge(history))
        except (UndecidedError, TargetFailedError) as error:
            self.close()
            return unknown(NAME, str(error))

    def _is_surely_serializable(self, history: History, claims: Claims) -> bool:
        """A whole trace without a cycle that the level excludes needs no second run: its transactions have an
        order in which every one of them reads what it read."""
        walk = self._walks.of(history)
        if walk.verdict.judgement is not Judgement.PASS or walk.trace is None or walk.occurrences is None:
            return False
        failed = any(
            isinstance(one.outcome, Failed) and one.outcome.kind in OF_THE_DATA for one in history.records
        )
        excluded = any(is_excluded(one, claims) for one in walk.occurrences)
        return not (failed or excluded or walk.trace.gaps)

    def _explained(self, history: History, verdict: Verdict) -> Verdict:
        """A deviation explains it if everything that was observed is right under the deviating claims, and no
        cycle is left that they exclude."""
        return explained(history, verdict, lambda claims: judge_walk(HistoryWalk(history, claims)))

    def close(self) -> None:
        """Drop the scratch tables."""
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    def _judge(self, history: History) -> Verdict:
        units = committed_units(history)
        if self._scratch is None:
            self._scratch = Scratch(self._target)
        self._scratch.prepare(history)
        trial = Trial(history, self._scratch)
        tried: dict[tuple[str, ...], Difference] = {}
        for order in _orders(units):
            names = tuple(unit.name for unit in order)
            if any(
                names[: difference.at + 1] == past[: difference.at + 1] for past, difference in tried.items()
            ):
                continue  # it begins like one that went wrong there
            difference = trial.run(order)
            if difference is None:
                return passed(NAME)
            tried[names] = difference
        unsure = next((one for one in tried.values() if not one.sure), None)
        if unsure is not None:
            return unknown(NAME, unsure.text)
        if len(units) > TRANSACTIONS_MAX:
            return unknown(NAME, f"{len(units)} transactions have too many orders to try them all")
        return _violation(tried)


class Trial:
    """Runs orders of one history's transactions."""

    def __init__(self, history: History, scratch: Scratch) -> None:
        self._history = history
        self._scratch = scratch
        self._dialect = scratch.target.dialect

    def run(self, order: Sequence[Unit]) -> Difference | None:
        """The first difference between this order and what was observed."""
        try:
            self._scratch.hold(self._history.initial)
        except UnfitError as error:
            raise UndecidedError("the first rows cannot be stored again") from error
        self._scratch.forget()
        for at, unit in enumerate(order):
            difference = self._run_unit(at, unit)
            if difference is not None:
                self._scratch.clean()
                return difference
        return self._compare_final(len(order))

    def _run_unit(self, at: int, unit: Unit) -> Difference | None:
        for record in unit.records:
            outcome = self._scratch.run(record.sql)
            shape = shape_of(record.sql, self._dialect) if kind_of(record.sql) in _ROW_KINDS else None
            if not agree(record.outcome, outcome, shape):
                reason = why_unsure(self._history, shape) if kind_of(record.sql) in _ROW_KINDS else ""
                if not reason and is_collision(shape, record.outcome, outcome):
                    reason = "a duplicate key that may depend on the order in which rows are visited"
                text = reason or (
                    f"{record.session} step {record.step} gives {format_outcome(outcome)}, "
                    f"observed {format_outcome(record.outcome)}"
                )
                is_read = shape is not None and shape.verb is Verb.READ
                return Difference(at, record.step, text, is_read, sure=not reason)
        return None

    def _compare_final(self, at: int) -> Difference | None:
        assert self._history.final is not None
        state = self._scratch.read(list(self._history.final))
        for table, rows in self._history.final.items():
            if not same_rows(rows, state[table]):
                reason = why_numbers(self._history)
                text = reason or f"it leaves {table}: {format_rows(state[table])}"
                return Difference(at, None, text, sure=not reason)
        return None


def committed_units(history: History) -> list[Unit]:
    """The transactions that committed, in the order of their commits."""
    if history.final is None:
        died = history.server_died
        raise UndecidedError("the server died" if died else "the final state could not be read")
    for lost in history.indeterminate:
        raise UndecidedError(f"whether {lost.session}'s {lost.sql} took effect is not known")
    if any(isinstance(record.outcome, Overran) for record in history.records):
        raise UndecidedError("a statement ran over the limit")
    units: list[Unit] = []
    open_units: dict[str, Unit] = {}
    for place, step in enumerate(history.observed_order):
        record = history.records[step]
        kind = kind_of(record.sql)
        if _changes_nothing(record, history):
            continue
        if kind not in (*_ROW_KINDS, StatementKind.BEGIN, *_ENDS, StatementKind.SAVEPOINT):
            raise UndecidedError(f"{kind.value} statements inside the schedule")
        if kind is StatementKind.BEGIN and record.before is not TransactionState.NONE:
            raise UndecidedError("BEGIN inside a transaction")
        unit = open_units.get(record.session)
        if unit is None or record.before is TransactionState.NONE:
            unit = Unit(f"{record.session}@{step}", step)
            units.append(unit)
        if _counts(record):
            unit.records.append(record)
        _close(unit, record, place)
        if record.after is TransactionState.NONE:
            open_units.pop(record.session, None)
        else:
            open_units[record.session] = unit
    done = [unit for unit in units if unit.committed_at is not None]
    return sorted(done, key=lambda unit: unit.committed_at or 0)


def _changes_nothing(record: Record, history: History) -> bool:
    """Whether a serial run can do without a statement: it sets what decides no result. A variable of the
    session's own may be read later."""
    done = isinstance(record.outcome, Affected | Rows) and "@" not in record.sql
    return done and nature_of(record.sql, history.dbms, False) is Nature.HARMLESS


_ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


def _counts(record: Record) -> bool:
    """Whether a serial run has to repeat the statement: not if it failed for reasons of concurrency."""
    outcome = record.outcome
    return not isinstance(outcome, Failed | Blocked | Omitted) or (
        isinstance(outcome, Failed) and outcome.kind in OF_THE_DATA and outcome.undone is Undone.STATEMENT
    )


def _close(unit: Unit, record: Record, place: int) -> None:
    """Note that the unit committed, if it did."""
    if isinstance(record.outcome, Failed) or record.after is not TransactionState.NONE:
        return
    kind = kind_of(record.sql)
    alone = record.before is TransactionState.NONE and kind in _ROW_KINDS
    if alone or (kind is StatementKind.COMMIT and record.before is TransactionState.OPEN):
        unit.committed_at = place


def _orders(units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    """Orders of the transactions, the most likely first: by commit, by first statement, then all others."""
    yield units
    yield sorted(units, key=_first_work)
    if len(units) <= TRANSACTIONS_MAX:
        yield from permutations(units)


def _first_work(unit: Unit) -> int:
    return next(
        (record.step for record in unit.records if kind_of(record.sql) in _ROW_KINDS), unit.first_step
    )


def _violation(tried: dict[tuple[str, ...], Difference]) -> Verdict:
    steps = [difference.step for difference in tried.values() if difference.step is not None]
    orders = tuple(
        FailedOrder(_sessions(names), difference.step, difference.text) for names, difference in tried.items()
    )
    return violated(
        NAME,
        Violation(
            ViolationKind.NOT_SERIALIZABLE,
            max(steps, default=None),
            OrdersWitness(orders),
            "the committed transactions must give the results of some serial order",
            _phenomenon(list(tried.values())),
        ),
    )


def _sessions(names: Sequence[str]) -> tuple[str, ...]:
    """Sessions in order; the step at which each began tells several of one session apart."""
    sessions = tuple(name.partition("@")[0] for name in names)
    return sessions if len(set(sessions)) == len(sessions) else tuple(names)


def _phenomenon(differences: Sequence[Difference]) -> Phenomenon | None:
    """Two transactions, each right if it comes first, and each reading too little if it comes second: both
    read what was before the other, which is a cycle of two anti-dependencies."""
    if len(differences) == 2 and all(one.at == 1 and one.is_read for one in differences):
        return Phenomenon.G2
    return None
