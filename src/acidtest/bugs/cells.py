"""Which bug shows on which version at which level: what the runs of a case on one target came to.

A case expects what holds where the bug is not. So an unmet expectation shows the bug, unless the run says
nothing about it: the version lacks what the case needs, or the DBMS broke a transaction off, after which
nothing is as the case expects it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from acidtest.bugs.comparing import difference, without_transactions
from acidtest.casefile import Unmet, check, describe_constraints, runs_on
from acidtest.corpus.levels import BESIDE_THE_POINT, PREVENTING, first_errors
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import DiedLaterError, Executor
from acidtest.model import (
    Blocked,
    BugKind,
    Case,
    ErrorKind,
    ExpectEnd,
    Failed,
    History,
    Indeterminate,
    Level,
    Overran,
    Record,
    TransactionState,
    Undone,
)


class Found(StrEnum):
    """What came of a bug on one target at one level."""

    SHOWS = "shows"
    HIDDEN = "does not show"
    ERROR = "error"  # the DBMS broke a transaction off instead
    UNKNOWN = "unknown"
    NOT_FOR = "not for it"  # the case is not for this DBMS or version, or the level does not exist there


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the matrix, and why it is so where that is worth a word. What depends on chance was seen
    in `shown` of `runs`."""

    case: str
    level: str
    target: str
    version: str
    found: Found
    detail: str = ""
    shown: int = 0
    runs: int = 1


def label_of(case: Case, level: Level | None, default: Level) -> str:
    """The level of a cell in short; None: as the case is written."""
    return level.short if level else written_levels(case) or default.short


def written_levels(case: Case) -> str:
    """The levels that a case names, in short; empty if it names none."""
    return "+".join(dict.fromkeys(tx.level.short for tx in case.transactions if tx.level is not None))


def levels_for(choice: Level | str | None, levels: Sequence[Level]) -> Sequence[Level | None]:
    """The levels that a choice means on a target: as written (None), one, or `all` that it has."""
    if choice == "all":
        return levels
    return [choice] if isinstance(choice, Level) else [None]


def observe(executor: Executor, case: Case, level: Level | None) -> Cell:
    """Run a case at a level, as often as it wants to be run."""
    target = executor.target
    found, detail, shown, runs = _observe(executor, case.at_level(level))
    label = label_of(case, level, target.default_level)
    return Cell(case.id, label, target.label, target.version, found, detail, shown, runs)


def _observe(executor: Executor, case: Case) -> tuple[Found, str, int, int]:
    target = executor.target
    if not runs_on(case, target.dbms, target.version):
        return Found.NOT_FOR, f"it is for {describe_constraints(case)}", 0, 0
    try:
        target.check_levels(tx.level for tx in case.transactions if tx.level is not None)
    except UsageError as error:
        return Found.NOT_FOR, str(error), 0, 0
    found = [_once(executor, case) for _ in range(case.repeat)]
    shown = sum(one is Found.SHOWS for one, _ in found)
    best, detail = min(found, key=lambda one: _TELLING.index(one[0]))
    if case.repeat > 1 and best is Found.SHOWS:
        detail = f"in {shown} of {case.repeat} runs: {detail}"
    return best, detail, shown, case.repeat


_TELLING = (Found.SHOWS, Found.UNKNOWN, Found.ERROR, Found.HIDDEN, Found.NOT_FOR)
"""Of several runs, the first of these tells what came of the bug."""


def _once(executor: Executor, case: Case) -> tuple[Found, str]:
    try:
        history = _run(executor, case)
        found = judge(history)
        if case.compared and found[0] is Found.HIDDEN:
            plain = _run(executor, without_transactions(case))
            return _compare(history, plain)
    except (UsageError, TargetFailedError) as error:  # the set-up was refused, or the server cannot be had
        return Found.UNKNOWN, str(error)
    return found


def _run(executor: Executor, case: Case) -> History:
    """A run; one whose server dies of it soon after its end is told as that."""
    try:
        history = executor.run(case, fresh=True)
    except DiedLaterError:  # of the run before, which has been told
        history = executor.run(case, fresh=True)
    return executor.late_death() or history


def _compare(history: History, plain: History) -> tuple[Found, str]:
    unmet = difference(history, plain)
    return (
        (Found.SHOWS, f"without transactions {unmet.expected}, got {unmet.observed}")
        if unmet
        else (
            Found.HIDDEN,
            "",
        )
    )


def judge(history: History) -> tuple[Found, str]:
    """What a run says about the bug of its case."""
    unmet = check(history)
    crash = history.case.bug is not None and history.case.bug.kind is BugKind.CRASH
    if history.server_died:
        return (Found.SHOWS if crash else Found.UNKNOWN), "the server died"
    if crash and any(map(_lost, history.records)):
        return Found.SHOWS, "a server process died and took its sessions along"
    if endless := _endless(history, unmet):
        return Found.SHOWS, f"expected {endless.expected}, got {endless.observed or 'no answer'}"
    if any(isinstance(record.outcome, Indeterminate) for record in history.records):
        return Found.UNKNOWN, "whether a statement took effect is not known: its connection was lost"
    if any(isinstance(record.outcome, Overran) for record in history.records):
        return Found.UNKNOWN, "a statement neither answered nor waited within the limit"
    if unmet and any(isinstance(record.outcome, Blocked) for record in history.records):
        return Found.UNKNOWN, "a statement still waited when nothing was left to release it"
    unfit = _unfit(history, unmet)
    if unfit is not None:
        return Found.UNKNOWN, f"{unfit.message} ({unfit.code})"
    refusal = next((error for error in first_errors(history) if error.kind in PREVENTING), None)
    excused = refusal is not None and not _is_the_bug(history, unmet)
    if refusal is not None and excused and (not unmet or refusal.undone is Undone.TRANSACTION):
        return Found.ERROR, f"error {refusal.code}"
    if unmet:
        return Found.SHOWS, f"expected {unmet[0].expected}, got {unmet[0].observed}"
    return Found.HIDDEN, ""


def _lost(record: Record) -> bool:
    """Whether the session was lost by the statement."""
    outcome = record.outcome
    lost = isinstance(outcome, Failed) and outcome.kind is ErrorKind.CONNECTION_LOST
    return lost or isinstance(outcome, Indeterminate)


def _endless(history: History, unmet: Sequence[Unmet]) -> Unmet | None:
    """A statement that must end, and did not."""
    steps = {step.index: step for step in history.case.steps}
    for one in unmet:
        expected = steps[one.step].statement.expect if one.step is not None else ()
        conditions = (c for expectation in expected for every in expectation.alternatives for c in every)
        if any(isinstance(condition, ExpectEnd) for condition in conditions):
            return one
    return None


def _is_the_bug(history: History, unmet: Sequence[Unmet]) -> bool:
    """Whether the refusal of a transaction is the bug itself: an error, and not what was expected there."""
    bug = history.case.bug
    if bug is None or bug.kind not in (BugKind.WRONG_ERROR, BugKind.DEADLOCK):
        return False
    failed = {record.step for record in history.records if isinstance(record.outcome, Failed)}
    return any(one.step in failed for one in unmet)


def _unfit(history: History, unmet: Sequence[Unmet]) -> Failed | None:
    """An error beside the point: at a statement of which nothing is expected, or such that a version lacks
    something. What comes after an unmet expectation or in a failed transaction is a consequence."""
    steps = {step.index: step for step in history.case.steps}
    wrong = [one.step for one in unmet if one.step is not None]
    for record in history.records:
        outcome, judged = record.outcome, bool(steps[record.step].statement.expect)
        late = record.step > min(wrong, default=record.step) or record.before is TransactionState.FAILED
        if not isinstance(outcome, Failed) or outcome.kind in PREVENTING or late:
            continue
        if not judged and not history.case.compared:
            return outcome
        if record.step in wrong and outcome.kind in BESIDE_THE_POINT:
            return outcome
    return None
