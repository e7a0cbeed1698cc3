"""Keeps asking the server who waits, and trusts only answers to questions asked after the last change."""

from collections.abc import Sequence
from time import perf_counter

from acidtest.errors import TargetFailedError
from acidtest.targets import Session, Waits, Watch

FIRST_QUESTION_S = (0.00015, 0.001)
"""The first question comes at the soonest and at the latest so long after the launch: most statements answer
sooner, and asking about them would only cost."""

PATIENCE = 1.5
"""In between, the first question comes after so many times what an answer takes here and now."""

_WEIGHT = 1 / 16  # of the latest answer in the average of all

EAGER_QUESTIONS = 20
"""So many questions follow each other at once; after that pauses of growing length pace them."""

LONGEST_PAUSE_S = 0.02


class Inquiry:
    """At most one question under way; it may outlive the step it was asked for, and is then worth nothing."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self._now = 0
        self._asked_at: int | None = None
        self._asked_in_a_row = 0
        self._pause_s = 0.0
        self._launched_s: float | None = None
        self._answer_s = 0.0
        self.dead = False
        """The server does not answer questions any more."""
        self._watching_since: float | None = None
        self.questions = 0
        """Asked in all."""
        self.watching_s = 0.0
        """Time from the first question of a step to its end, over all steps."""

    def revive(self, watch: Watch) -> None:
        """Go on with another watch; what was asked of the old one is lost."""
        self.watch = watch
        self.dead = False
        self._asked_at = None

    def launched(self) -> None:
        """A statement was sent: earlier answers are void, and there is no hurry to ask."""
        self._now += 1
        self._asked_in_a_row = 0
        soonest_s, latest_s = FIRST_QUESTION_S
        self._pause_s = min(max(PATIENCE * self._answer_s, soonest_s), latest_s)
        self._launched_s = perf_counter()

    def changed(self) -> None:
        """A statement completed: earlier answers are void, and whom it released is of interest at once."""
        self._now += 1
        self._asked_in_a_row = 0
        self._pause_s = 0.0
        if self._launched_s is not None:
            took_s = min(perf_counter() - self._launched_s, FIRST_QUESTION_S[1])
            self._answer_s += _WEIGHT * (took_s - self._answer_s)
            self._launched_s = None

    def settled(self) -> None:
        """The step is over."""
        if self._watching_since is not None:
            self.watching_s += perf_counter() - self._watching_since
            self._watching_since = None

    def pause_s(self) -> float:
        """How long to wait for news before asking."""
        return LONGEST_PAUSE_S if self._asked_at is not None or self.dead else self._pause_s

    def ask(self, suspects: Sequence[Session], had_news: bool) -> None:
        """Ask, unless a question is under way, or news cut short the pause that comes before the next."""
        if self._asked_at is not None or self.dead or (had_news and self._pause_s > 0):
            return
        try:
            self.watch.ask(suspects)
        except TargetFailedError:
            self.dead = True  # the sessions in flight will tell what became of the server
            return
        self._asked_at = self._now
        self._asked_in_a_row += 1
        self.questions += 1
        if self._watching_since is None:
            self._watching_since = perf_counter()

    def answer(self) -> Waits | None:
        """An answer that is still true, if one came."""
        if self._asked_at is None or self.dead:
            return None
        try:
            waits = self.watch.answer()
        except TargetFailedError:
            self.dead = True
            return None
        if waits is None:
            return None
        asked_at, self._asked_at = self._asked_at, None
        if asked_at != self._now:
            return None
        excess = self._asked_in_a_row - EAGER_QUESTIONS
        self._pause_s = min(LONGEST_PAUSE_S, 0.001 * excess) if excess > 0 else 0.0
        if waits:
            self._launched_s = None  # what comes now says nothing of how long an answer takes
        return waits
