"""The gate of a reduction: does a candidate, run again, still show the same bug?"""

from dataclasses import replace
from math import ceil, log

from acidtest.errors import UsageError
from acidtest.examine import Examiner, first_violation
from acidtest.findings.places import clarity_of
from acidtest.findings.signature import Signature, signature_of
from acidtest.model import Blocked, Case, EventKind, History, Omitted, Overran, Verdict, interleave

MISSED_MAX = 0.02
"""How likely a flaky bug may stay unseen in all tries of a candidate."""
TRIES_MAX = 12

Seen = tuple[History, Verdict]


class SameBug:
    """Runs candidates on fresh tables and compares signatures; `rate` is how often the original shows it."""

    def __init__(
        self,
        examiner: Examiner,
        oracle: str,
        signature: Signature,
        *,
        rate: float = 1.0,
    ) -> None:
        self._examiner = examiner
        self._oracle = oracle
        self._last_kept = signature
        self._clarity = 2
        self.last_seen: Seen | None = None
        """The run of the last candidate that was kept."""
        self._tries = _tries(rate)

    def interesting(self, candidate: Case) -> bool:
        """Whether the bug is still there, with no new causes."""
        seen = self.look(candidate)
        if seen is not None:
            self._last_kept, self.last_seen = signature_of(*seen), seen
            self._clarity = _clarity(seen)
        return seen is not None

    def reordering(self, candidate: Case) -> bool:
        """The stricter question for statements that changed places, which can make another bug of it: nothing
        but waits may be gone."""
        seen = self.look(candidate)
        if seen is None:
            return False
        signature = signature_of(*seen)
        if signature.without_waits() != self._last_kept.without_waits():
            return False
        self._last_kept, self.last_seen = signature, seen
        return True

    def start_from(self, history: History) -> Case:
        """The case to begin with: in the order in which statements took effect, so that nobody waits, or else
        in the order in which they were launched, if it shows that way.

        A bug that needs no wait is told without one. Statements queue behind one of their session that waits.
        As long as the schedule hides that, dropping the one in front would move those behind it to another
        place.
        """
        for case in (as_completed(history), as_launched(history)):
            if case is not None and self.interesting(case):
                return case
        return history.case

    def look(self, case: Case) -> Seen | None:
        """A run of the case in which the bug shows."""
        for _ in range(self._tries):
            seen = look(case, self._examiner, self._oracle)
            if seen is not None and self._is_same(seen):
                return seen
        return None

    def _is_same(self, seen: Seen) -> bool:
        signature = signature_of(*seen)
        if self._last_kept.may_become(signature):
            return True
        return _clarity(seen) > self._clarity and self._last_kept.may_clear_up_as(signature)


def _clarity(seen: Seen) -> int:
    history, verdict = seen
    return clarity_of(history, verdict.step)


def as_launched(history: History) -> Case:
    """The case with its statements in the order in which they were launched, without those never sent."""
    return _in_order(history, EventKind.LAUNCHED)


def as_completed(history: History) -> Case | None:
    """The same in the order in which they were answered; None if nobody waited, or somebody to the end."""
    sent = [one for one in history.records if not isinstance(one.outcome, Omitted)]
    if not any(one.waited for one in sent) or any(isinstance(one.outcome, Blocked | Overran) for one in sent):
        return None
    return _in_order(history, EventKind.COMPLETED)


def _in_order(history: History, kind: EventKind) -> Case:
    order = [event.step for event in history.events if event.kind is kind]
    levels = {one.name: one.level for one in history.case.transactions}
    steps = history.case.steps
    transactions, schedule = interleave(((steps[i].session, steps[i].statement) for i in order), levels)
    return replace(history.case, transactions=transactions, schedule=schedule)


def look(case: Case, examiner: Examiner, oracle: str) -> Seen | None:
    """A run of the case and the violation that the oracle sees in it; None if there is none."""
    try:
        history = examiner.executor.run(case, fresh=True)
    except UsageError:
        return None  # the DBMS refused the set-up
    verdict = first_violation(examiner.judge(history, [oracle]))
    return None if verdict is None else (history, verdict)


def _tries(rate: float) -> int:
    """Runs after which a bug that shows at this rate was seen, most surely."""
    return 1 if rate >= 1 else min(TRIES_MAX, ceil(log(MISSED_MAX) / log(1 - rate)))
