"""The evaluator's walk along a history, made once and shared by the oracles that need it."""

from functools import cached_property

from acidtest.claims import Claims, claims_of
from acidtest.graph import Occurrence, phenomena
from acidtest.model import History, Trace, Verdict, unknown
from acidtest.oracles.engines.evaluating import engine_for
from acidtest.oracles.judging import Walked, judge_under
from acidtest.oracles.spans import with_spans

SOLVER = "solver"


class HistoryWalk:
    """The walk along one history; what follows from it is worked out when it is asked for."""

    def __init__(self, history: History, claims: Claims | None = None, traces: bool = True) -> None:
        self.claims = claims_of(history) if claims is None else claims
        self._history, self._traces = history, traces
        self._walked = _walk(history, self.claims, traces)

    @property
    def verdict(self) -> Verdict:
        """What `solver` says."""
        return self._walked.verdict

    @cached_property
    def trace(self) -> Trace | None:
        """What the transactions read and wrote; None if the walk did not come to the end."""
        if not self._traces:
            return HistoryWalk(self._history, self.claims).trace
        trace = self._walked.trace()
        if trace is None or self.claims is None:
            return None
        return with_spans(trace, self._history, self.claims)

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...] | None:
        """The phenomena that occurred; None if there is no trace."""
        return None if self.trace is None else tuple(phenomena(self.trace))


def _walk(history: History, claims: Claims | None, traces: bool) -> Walked:
    if claims is None:
        return Walked(unknown(SOLVER, f"nothing is written down about what {history.dbms} promises"))
    return judge_under(
        SOLVER, history, claims, lambda: engine_for(history.dbms, history.schema, history.version), traces
    )


class Walks:
    """Keeps the walk along the last history; `traces`: somebody reads what it leaves."""

    def __init__(self, traces: bool = True) -> None:
        self._traces = traces
        self._history: History | None = None
        self._walk: HistoryWalk | None = None

    def of(self, history: History) -> HistoryWalk:
        """The walk along a history."""
        if self._walk is None or self._history is not history:
            self._walk, self._history = HistoryWalk(history, traces=self._traces), history
        return self._walk
