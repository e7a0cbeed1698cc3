"""The order of things: which event takes effect before which, and how matters stood when a step began."""

from collections.abc import Iterator

from acidtest.model import ErrorKind, Event, EventKind, Failed, History, Omitted, Undone
from acidtest.oracles.chains import Chains, Version
from acidtest.oracles.replay.natures import two_phase_of
from acidtest.sql import StatementKind, kind_of

_ENDS = (StatementKind.COMMIT, StatementKind.ROLLBACK)


class Timeline:
    """What is under way, and how matters stood when each step was launched."""

    def __init__(self, history: History, chains: Chains) -> None:
        self._history = history
        self._chains = chains
        self.launched_at: dict[int, int] = {}
        """The clock when a step was launched."""
        self.dirty_at: dict[int, dict[tuple[str, int], Version]] = {}
        """Versions that were not committed when a step was launched that then waited, by table and row."""
        self.in_flight: dict[str, int] = {}
        """The step that each session is busy with."""

    def launch(self, event: Event) -> None:
        """A step begins."""
        self.launched_at[event.step] = self._chains.clock
        if self._history.records[event.step].waited:
            self.dirty_at[event.step] = self._dirty_rows()
        self.in_flight[event.session] = event.step

    def start_over(self, step: int, moment: int) -> None:
        """A step that waited begins again, when the clock stands at a moment."""
        self.launched_at[step] = moment

    def complete(self, event: Event) -> None:
        """A step ends."""
        self.in_flight.pop(event.session, None)

    def is_victim(self, session: str) -> bool:
        """Whether the statement that the session has in flight, or its next one, ends in a deadlock."""
        done = self.in_flight.get(session, max(self.launched_at, default=0))
        for record in self._history.records:
            if record.session == session and record.step >= done and not isinstance(record.outcome, Omitted):
                return isinstance(record.outcome, Failed) and record.outcome.kind is ErrorKind.DEADLOCK
        return False

    def _dirty_rows(self) -> dict[tuple[str, int], Version]:
        return {
            (table, row): versions[-1]
            for table in self._chains.tables()
            for row, versions in self._chains.rows(table)
            if not self._chains.is_committed(versions[-1].writer)
        }


def in_order_of_effect(history: History) -> Iterator[Event]:
    """Events as observed, but of those that are heard of at the same time the ends of transactions first.

    COMMIT and ROLLBACK release others, then transactions that an error undid (to end a deadlock, or because
    they lost a conflict): they ended before the statement went on that waited for them.
    """
    batch: list[Event] = []
    for event in history.events:
        if event.kind is EventKind.LAUNCHED:
            yield from _ranked(history, batch)
            batch = []
            yield event
        else:
            batch.append(event)
    yield from _ranked(history, batch)


def _ranked(history: History, batch: list[Event]) -> list[Event]:
    return sorted(batch, key=lambda one: _rank(history, one)) if len(batch) > 1 else batch


def _rank(history: History, event: Event) -> int:
    record = history.records[event.step]
    ends = kind_of(record.sql) in _ENDS or two_phase_of(record.sql) is not None
    if event.kind is EventKind.COMPLETED and ends:
        return 0
    undone = isinstance(record.outcome, Failed) and record.outcome.undone
    return 1 if event.kind is EventKind.COMPLETED and undone in (Undone.TRANSACTION, Undone.CONNECTION) else 2
