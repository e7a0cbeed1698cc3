"""Keeps asking the server who waits, and trusts only answers to questions asked after the last change."""

from collections.abc import Sequence
from time import perf_counter

from acidtest.errors import TargetFailedError
from acidtest.targets import Session, Waits, Watch

FIRST_QUESTION_AFTER_S = 0.001
"""Most statements answer sooner; asking about them would only cost."""

EAGER_QUESTIONS = 20
"""So many questions follow each other at once; after that pauses of growing length pace them."""

LONGEST_PAUSE_S = 0.02


class Inquiry:
    """At most one question under way; it may outlive the step it was asked for, and is then worth nothing."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self._now = 0
        self._asked_at: int | None = None
        self._questions = 0
        self._pause_s = 0.0
        self._dead = False
        self._asked_s = 0.0
        self.questions = 0
        """Asked in all."""
        self.watching_s = 0.0
        """Time between questions and their answers in all; much of it the statement itself was running."""

    def launched(self) -> None:
        """A statement was sent: earlier answers are void, and there is no hurry to ask."""
        self._now += 1
        self._questions = 0
        self._pause_s = FIRST_QUESTION_AFTER_S

    def changed(self) -> None:
        """A statement completed: earlier answers are void, and whom it released is of interest at once."""
        self._now += 1
        self._questions = 0
        self._pause_s = 0.0

    def pause_s(self) -> float:
        """How long to wait for news before calling `ask_if_due`."""
        return LONGEST_PAUSE_S if self._asked_at is not None or self._dead else self._pause_s

    def ask_if_due(self, suspects: Sequence[Session]) -> None:
        """Ask, unless a question is under way or the pause after the last one has not been taken."""
        if self._asked_at is not None or self._dead:
            return
        try:
            self.watch.ask(suspects)
        except TargetFailedError:
            self._dead = True  # the sessions in flight will tell what became of the server
            return
        self._asked_at = self._now
        self._asked_s = perf_counter()
        self._questions += 1
        self.questions += 1

    def answer(self) -> Waits | None:
        """An answer that is still true, if one came."""
        if self._asked_at is None or self._dead:
            return None
        try:
            waits = self.watch.answer()
        except TargetFailedError:
            self._dead = True
            return None
        if waits is None:
            return None
        self.watching_s += perf_counter() - self._asked_s
        true_still = self._asked_at == self._now
        self._asked_at = None
        self._pause_s = 0.0
        if self._questions >= EAGER_QUESTIONS:
            self._pause_s = min(LONGEST_PAUSE_S, 0.001 * (self._questions - EAGER_QUESTIONS + 1))
        return waits if true_still else None
