"""The gate of a reduction: does a candidate, run again, still show the same bug?"""

from dataclasses import replace
from math import ceil, log

from acidtest.errors import UsageError
from acidtest.examine import Examiner, first_violation
from acidtest.findings.signature import Signature, signature_of
from acidtest.model import Case, EventKind, History, Verdict, interleave

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
        self.last_seen: Seen | None = None
        """The run of the last candidate that was kept."""
        self._tries = _tries(rate)

    def interesting(self, candidate: Case) -> bool:
        """Whether the bug is still there, with no new causes."""
        seen = self.look(candidate)
        if seen is not None:
            self._last_kept, self.last_seen = signature_of(*seen), seen
        return seen is not None

    def reordering(self, candidate: Case) -> bool:
        """The stricter question for statements that changed places, which can make another bug of it."""
        seen = self.look(candidate)
        if seen is None or signature_of(*seen) != self._last_kept:
            return False
        self.last_seen = seen
        return True

    def start_from(self, history: History) -> Case:
        """The case to begin with: in the order in which statements were launched, if it shows that way.

        Statements queue behind one of their session that waits. As long as the schedule hides that, dropping
        the one in front would move those behind it to another place.
        """
        launched = as_launched(history)
        return launched if self.interesting(launched) else history.case

    def look(self, case: Case) -> Seen | None:
        """A run of the case in which the bug shows."""
        for _ in range(self._tries):
            seen = look(case, self._examiner, self._oracle)
            if seen is not None and self._last_kept.may_become(signature_of(*seen)):
                return seen
        return None


def as_launched(history: History) -> Case:
    """The case with its statements in the order in which they were launched, without those never sent."""
    order = [event.step for event in history.events if event.kind is EventKind.LAUNCHED]
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
