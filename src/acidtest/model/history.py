"""The observed run of a case: its events in order, each statement's record, and the final state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from acidtest.model.case import Case, Statement, interleave
from acidtest.model.level import Level
from acidtest.model.outcome import (
    Affected,
    Failed,
    Indeterminate,
    Outcome,
    Overran,
    Rows,
    TransactionState,
    Warning,
)
from acidtest.model.schema import Schema, State


class EventKind(StrEnum):
    """The five things that happen in a run."""

    LAUNCHED = "launched"
    BLOCKED = "blocked"
    RESUMED = "resumed"
    COMPLETED = "completed"
    ABORTED = "aborted"  # the session's transaction was undone by the DBMS


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a step. `by`: sessions waited for; `cause`: the step that released it."""

    kind: EventKind
    step: int
    session: str
    by: tuple[str, ...] = ()
    cause: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All that is known of one step.

    `waited` is true if the server said that the statement waits; `blocked_by` then names the sessions it
    waited for first, as far as the server tells. `resumed_by` is the step whose completion released it.
    `before` and `after` say where the session's transaction stood. `parts` are the results of a script's
    statements, where it was sent as one message.
    """

    step: int
    session: str
    sql: str
    outcome: Outcome
    waited: bool = False
    blocked_by: tuple[str, ...] = ()
    resumed_by: int | None = None
    before: TransactionState = TransactionState.NONE
    after: TransactionState = TransactionState.NONE
    warnings: tuple[Warning, ...] = ()
    parts: tuple[Rows | Affected | Failed, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """A run on a target. `final` is None if it could not be read. `origin` is the case that was run; a
    history that somebody else recorded has none."""

    origin: Case | None
    target: str
    version: str
    levels: Mapping[str, Level]
    schema: Schema
    initial: State
    events: tuple[Event, ...]
    records: tuple[Record, ...]
    final: State | None
    dbms: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What of the server's settings decides its promises, by name."""
    teardown_failures: tuple[tuple[str, Failed | Overran], ...] = ()
    """Statements of the teardown that did not succeed, and what they came to."""
    died: bool | None = None
    """Whether the server went away, in the run or so soon after it that the run must be the reason; None:
    it did if the final state could not be read."""

    @property
    def case(self) -> Case:
        """The case that was run, or else one with the statements that were seen and no set-up."""
        if self.origin is not None:
            return self.origin
        steps = ((record.session, Statement(record.sql)) for record in self.records)
        transactions, schedule = interleave(steps, dict(self.levels))
        return Case("history", (), transactions, schedule)

    @property
    def setup(self) -> tuple[str, ...]:
        """The statements that built the tables, as far as they are known."""
        return () if self.origin is None else tuple(statement.sql for statement in self.origin.setup)

    @property
    def observed_order(self) -> tuple[int, ...]:
        """Steps in the order in which they completed."""
        return tuple(event.step for event in self.events if event.kind is EventKind.COMPLETED)

    @property
    def indeterminate(self) -> tuple[Record, ...]:
        """Statements of which nobody knows whether they took effect."""
        return tuple(record for record in self.records if isinstance(record.outcome, Indeterminate))

    @property
    def server_died(self) -> bool:
        """Whether the run cost the server its life."""
        return self.final is None if self.died is None else self.died
