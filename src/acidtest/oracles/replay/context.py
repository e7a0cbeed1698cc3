"""Everything that a walk knows, for those who judge a part of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from acidtest.claims import Claims
from acidtest.model import History, Record
from acidtest.oracles.chains import Chains
from acidtest.oracles.engines.base import Engine
from acidtest.oracles.replay.choices import Choices
from acidtest.oracles.replay.timeline import Timeline
from acidtest.oracles.replay.transactions import Transactions
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.visibility import Visibility
from acidtest.sql.shape import Locking, Shape, Verb

HALF_DONE = "a dirty read of what a waiting write has done so far"
"""Why a read that sees what is not committed cannot be judged."""


@dataclass(frozen=True, slots=True)
class Context:
    """A history, where the walk along it stands, and the engine that solves its statements."""

    history: History
    engine: Engine
    chains: Chains
    transactions: Transactions
    timeline: Timeline
    visibility: Visibility
    choices: Choices
    unexplained_conflicts: list[int] = field(default_factory=list)
    """Steps that failed with a conflict for which the walk sees no reason."""
    tolerated: list[ViolationError] | None = None
    """What was wrong, if the walk goes on as if the promise had been kept; None: it ends there."""

    @contextmanager
    def judging(self) -> Iterator[None]:
        """A place where a broken promise may show."""
        try:
            yield
        except ViolationError as error:
            self.report(error)

    def report(self, error: ViolationError) -> None:
        """A promise is broken: this ends the walk, unless it is tolerant."""
        if self.tolerated is None:
            raise error
        self.tolerated.append(error)

    @classmethod
    def of(
        cls, history: History, claims: Claims, engine: Engine, choices: Choices, tolerant: bool = False
    ) -> "Context":
        """The context before the first event."""
        chains = Chains.of(history.initial)
        chains.deletes_win = any(claim.updates_and_deletes_agree for claim in claims.used())
        chains.nulls_are_kept_apart = any(claim.nulls_are_kept_apart for claim in claims.used())
        timeline = Timeline(history, chains)
        transactions = Transactions(chains, claims)
        visibility = Visibility(chains, timeline)
        tolerated: list[ViolationError] | None = [] if tolerant else None
        parts = (history, engine, chains, transactions, timeline, visibility, choices)
        return cls(*parts, tolerated=tolerated)

    def is_half_done(self, record: Record, tables: Sequence[str]) -> bool:
        """Whether a write of another session on one of the tables has begun and not ended."""
        return self._writes_to(record, tables, self.timeline.in_flight)

    def was_half_done(self, record: Record, tables: Sequence[str]) -> bool:
        """The same when the statement began; such a write may have been taken back since."""
        return self._writes_to(record, tables, self.timeline.under_way_at[record.step])

    def _writes_to(self, record: Record, tables: Sequence[str], under_way: Mapping[str, int]) -> bool:
        for session, step in under_way.items():
            other = self.transactions.sessions[session].shape(self.history.records[step])
            if session == record.session or other is None:
                continue
            if other.verb is not Verb.READ and other.target in tables:
                return True
        return False

    def works_on(self, record: Record, tables: Sequence[str]) -> bool:
        """Whether a statement of another session that writes or locks rows of these tables is under way."""
        for session, step in self.timeline.in_flight.items():
            if session == record.session:
                continue
            other = self.transactions.sessions[session].shape(self.history.records[step])
            if other is None or (set(other.reads) & set(tables) and _locks(other)):
                return True
        return False


def _locks(shape: Shape) -> bool:
    return shape.verb is not Verb.READ or shape.locking is not Locking.NONE or shape.locks_inside
