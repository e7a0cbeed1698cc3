"""Events and records of a run, written down as they come."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acidtest.model import (
    Blocked,
    ErrorKind,
    Event,
    EventKind,
    Failed,
    Indeterminate,
    Omitted,
    Outcome,
    Overran,
    Record,
    Reply,
    Step,
    TransactionState,
    Undone,
)
from acidtest.sql import StatementKind, kind_of

if TYPE_CHECKING:
    from acidtest.execute.run import Flight


@dataclass(slots=True)
class Log:
    """Grows during a run; the history is made from it."""

    events: list[Event] = field(default_factory=list)
    records: dict[int, Record] = field(default_factory=dict)
    _resumed_by: dict[int, int | None] = field(default_factory=dict)

    def event(self, kind: EventKind, step: Step, by: tuple[str, ...] = (), cause: int | None = None) -> None:
        """Something happened to a step."""
        self.events.append(Event(kind, step.index, step.session, by, cause))

    def resumed(self, step: Step, cause: int | None) -> None:
        """A waiting step goes on; the last release is the one that its record names."""
        self._resumed_by[step.index] = cause
        self.event(EventKind.RESUMED, step, cause=cause)

    def complete(self, flight: "Flight", reply: Reply) -> None:
        """A step got its reply."""
        self.event(EventKind.COMPLETED, flight.step)
        outcome: Outcome = reply.outcome
        if isinstance(outcome, Failed):
            if _may_have_committed(flight, outcome):
                outcome = Indeterminate(outcome.code, outcome.message)
            elif _lost_transaction(flight, outcome):
                self.event(EventKind.ABORTED, flight.step)
        self._record(flight, outcome, reply)

    def close(self, flight: "Flight", outcome: Blocked | Overran) -> None:
        """A step was launched and never came to an end of its own."""
        self._record(flight, outcome, None)

    def skip(self, step: Step, outcome: Omitted) -> None:
        """A step was never launched."""
        self.records[step.index] = Record(step.index, step.session, step.sql, outcome)

    def _record(self, flight: "Flight", outcome: Outcome, reply: Reply | None) -> None:
        step = flight.step
        self.records[step.index] = Record(
            step=step.index,
            session=step.session,
            sql=step.sql,
            outcome=outcome,
            waited=flight.waited,
            blocked_by=flight.first_blockers,
            resumed_by=self._resumed_by.get(step.index),
            before=flight.before,
            after=reply.transaction if reply else flight.before,
            warnings=reply.warnings if reply else (),
            parts=reply.parts if reply else (),
        )


_COMMITS_ALONE = (StatementKind.WRITE, StatementKind.DDL, StatementKind.OTHER)
"""What takes effect for good outside of a transaction."""

_COMMITS_WITHIN = (StatementKind.COMMIT, StatementKind.DDL, StatementKind.OTHER)
"""What may end a transaction well; on many DBMSs DDL does."""


def _may_have_committed(flight: "Flight", lost: Failed) -> bool:
    """Whether the statement was sent, may have committed something, and lost its connection."""
    if lost.kind is not ErrorKind.CONNECTION_LOST or lost.undone is Undone.NOTHING:
        return False
    kind = kind_of(flight.step.sql)
    return (flight.before is TransactionState.NONE and kind in _COMMITS_ALONE) or (
        flight.before is TransactionState.OPEN and kind in _COMMITS_WITHIN
    )


def _lost_transaction(flight: "Flight", error: Failed) -> bool:
    """Whether an open transaction was undone by the error."""
    undone = error.undone in (Undone.TRANSACTION, Undone.CONNECTION)
    return undone and flight.before is TransactionState.OPEN
