"""Where the statements of a run come from: a case, or a client that goes on from what it is answered."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from acidtest.model import Case, Level, Record, Statement, Step, interleave


class Feed(Protocol):
    """Gives a run its steps, one at a time. Steps are numbered in the order in which they are given."""

    def next(self, free: Collection[str]) -> Step | None:
        """A step for one of these sessions, none of whose statements is in flight. May wait for the client
        that decides on it; None: nothing comes before another session is answered."""

    def replied(self, step: Step, record: Record) -> None:
        """A step that was given came to its end: it was answered, was never sent, or was given up."""

    @property
    def is_held_up(self) -> bool:
        """Whether the next step waits for the answer to another session's, as its order demands."""

    def let_overtake(self) -> None:
        """What holds the next step up does not end by itself: give the others."""

    def rest(self) -> Sequence[Step]:
        """Steps that were never given."""


class CaseFeed:
    """The schedule of a case. Steps of a session that waits stay queued, and the others overtake them, unless
    the order is strict: then they hold up what comes after them. The rest of a step that waits does not."""

    def __init__(self, case: Case) -> None:
        self._queue = list(case.steps)
        self._strict = case.strict

    def next(self, free: Collection[str]) -> Step | None:
        """The earliest step of a free session."""
        for position, step in enumerate(self._queue):
            if step.session in free:
                del self._queue[position]
                return step
            if self._strict and not step.statement.joined:
                return None
        return None

    def replied(self, step: Step, record: Record) -> None:
        """The schedule goes on as it is written."""

    @property
    def is_held_up(self) -> bool:
        return self._strict and bool(self._queue)

    def let_overtake(self) -> None:
        self._strict = False

    def rest(self) -> Sequence[Step]:
        return self._queue


def as_it_went(case: Case, records: Iterable[Record]) -> Case:
    """The case with the statements that were really given; its own transactions name sessions and levels."""
    levels: dict[str, Level | None] = {tx.name: tx.level for tx in case.transactions}
    steps = [(record.session, Statement(record.sql)) for record in sorted(records, key=lambda one: one.step)]
    transactions, schedule = interleave(steps, levels)
    return replace(case, transactions=transactions, schedule=schedule)
