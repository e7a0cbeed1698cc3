"""Whether an anomaly occurred in a run of its case, and if not, what prevented it.

An anomaly's case expects what holds when the anomaly does not occur: at the statements that would see it, and
in the final state. So an unmet expectation is the anomaly's evidence, however the statements were reordered
by waiting. An error that makes the application repeat a transaction takes that evidence away, because every
transaction of such a case is needed for the anomaly, and what a broken-off transaction read does not count.
"""

from collections.abc import Iterator
from enum import StrEnum

from acidtest.casefile import check
from acidtest.model import Blocked, ErrorKind, Failed, History, Indeterminate, Overran, Record

PREVENTING = frozenset(
    {
        ErrorKind.DEADLOCK,
        ErrorKind.SERIALIZATION_FAILURE,
        ErrorKind.LOCK_TIMEOUT,
        ErrorKind.LOCK_NOT_AVAILABLE,
        ErrorKind.RECORD_CHANGED,
        ErrorKind.WRITE_CONFLICT,
    }
)
"""Errors by which a DBMS says: another transaction is in the way, try again."""

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
"""Errors that say more about the version, or the machine, than about a bug."""


class Observed(StrEnum):
    """What came of an anomaly in one run."""

    OCCURS = "occurs"
    WAITING = "prevented by waiting"
    ERROR = "prevented by an error"
    SNAPSHOT = "prevented by the snapshot"  # neither waiting nor an error: the versions seen rule it out
    UNKNOWN = "unknown"  # the run itself went wrong, so nothing follows

    @property
    def prevented(self) -> bool:
        """Whether the anomaly surely did not occur."""
        return self in (Observed.WAITING, Observed.ERROR, Observed.SNAPSHOT)


def classify(history: History) -> Observed:
    """What came of the anomaly whose case was run."""
    errors = list(first_errors(history))
    if history.server_died or any(_went_wrong(record) for record in history.records):
        return Observed.UNKNOWN
    if any(error.kind not in PREVENTING for error in errors):
        return Observed.UNKNOWN
    if errors:
        return Observed.ERROR
    if check(history):
        return Observed.OCCURS
    if any(record.waited for record in history.records):
        return Observed.WAITING
    return Observed.SNAPSHOT


def first_errors(history: History) -> Iterator[Failed]:
    """The first error of each session; later ones are its consequences."""
    failed: set[str] = set()
    for record in history.records:
        if isinstance(record.outcome, Failed) and record.session not in failed:
            failed.add(record.session)
            yield record.outcome


def _went_wrong(record: Record) -> bool:
    return isinstance(record.outcome, Overran | Blocked | Indeterminate)
