"""Which bug shows on which version at which level: what the runs of a case on one target came to.

A case expects what holds where the bug is not. So an unmet expectation shows the bug, unless the run says
nothing about it: the version lacks what the case needs, or the DBMS broke a transaction off, after which
nothing is as the case expects it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from acidtest.casefile import check, describe_constraints, runs_on
from acidtest.corpus.levels import PREVENTING, first_errors
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import Executor
from acidtest.model import Blocked, Case, ErrorKind, Failed, History, Indeterminate, Level, Overran, Undone

BESIDE_THE_POINT = frozenset(
    {
        ErrorKind.SYNTAX,
        ErrorKind.NO_SUCH_OBJECT,
        ErrorKind.UNSUPPORTED,
        ErrorKind.ACCESS,
        ErrorKind.RESOURCES,
        ErrorKind.CANCELLED,
        ErrorKind.CONNECTION_LOST,
    }
)
"""Errors that say more about the version, or the machine, than about the bug."""


class Found(StrEnum):
    """What came of a bug on one target at one level."""

    SHOWS = "shows"
    HIDDEN = "does not show"
    ERROR = "error"  # the DBMS broke a transaction off instead
    UNKNOWN = "unknown"
    NOT_FOR = "not for it"  # the case is not for this DBMS or version, or the level does not exist there


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the matrix, and why it is so where that is worth a word."""

    case: str
    level: str
    target: str
    version: str
    found: Found
    detail: str = ""


def observe_target(
    executor: Executor, cases: Sequence[Case], choice: Level | str | None, progress: Callable[[str], None]
) -> Iterator[Cell]:
    """Run the cases on one target: at the levels as written (None), at one, or at `all` that it has."""
    target = executor.target
    for case in cases:
        levels: Sequence[Level | None] = target.levels if choice == "all" else [None]
        if isinstance(choice, Level):
            levels = [choice]
        for level in levels:
            progress(f"{case.id} on {target.label}")
            found, detail = _observe(executor, case.at_level(level))
            label = level.short if level else written_levels(case) or target.default_level.short
            yield Cell(case.id, label, target.label, target.version, found, detail)


def written_levels(case: Case) -> str:
    """The levels that a case names, in short; empty if it names none."""
    return "+".join(dict.fromkeys(tx.level.short for tx in case.transactions if tx.level is not None))


def _observe(executor: Executor, case: Case) -> tuple[Found, str]:
    target = executor.target
    if not runs_on(case, target.dbms, target.version):
        return Found.NOT_FOR, f"it is for {describe_constraints(case)}"
    try:
        target.check_levels(tx.level for tx in case.transactions if tx.level is not None)
    except UsageError as error:
        return Found.NOT_FOR, str(error)
    try:
        return judge(executor.run(case, fresh=True))
    except (UsageError, TargetFailedError) as error:  # the set-up was refused, or the server cannot be had
        return Found.UNKNOWN, str(error)


def judge(history: History) -> tuple[Found, str]:
    """What a run says about the bug of its case."""
    if history.server_died:
        return Found.UNKNOWN, "the server died"
    if any(isinstance(record.outcome, Indeterminate) for record in history.records):
        return Found.UNKNOWN, "whether a statement took effect is not known: its connection was lost"
    if any(isinstance(record.outcome, Overran) for record in history.records):
        return Found.UNKNOWN, "a statement neither answered nor waited within the limit"
    unmet = check(history)
    if unmet and any(isinstance(record.outcome, Blocked) for record in history.records):
        return Found.UNKNOWN, "a statement still waited when nothing was left to release it"
    unfit = next(_unfit(history, bool(unmet)), None)
    if unfit is not None:
        return Found.UNKNOWN, f"{unfit.message} ({unfit.code})"
    refusal = next((error for error in first_errors(history) if error.kind in PREVENTING), None)
    if refusal is not None and (not unmet or refusal.undone is Undone.TRANSACTION):
        return Found.ERROR, f"error {refusal.code}"
    if unmet:
        return Found.SHOWS, f"expected {unmet[0].expected}, got {unmet[0].observed}"
    return Found.HIDDEN, ""


def _unfit(history: History, unmet: bool) -> Iterator[Failed]:
    """Errors beside the point: at a statement of which nothing is expected, or such that a version lacks
    something; where errors are expected all is well."""
    steps = {step.index: step for step in history.case.steps}
    for record in history.records:
        outcome, judged = record.outcome, bool(steps[record.step].statement.expect)
        if not isinstance(outcome, Failed) or outcome.kind in PREVENTING:
            continue
        if not judged or (unmet and outcome.kind in BESIDE_THE_POINT):
            yield outcome
