"""`views` (Troc): the DBMS itself answers, each statement alone on tables with just the rows it may see.

A statement that runs alone and autocommitted on scratch tables knows no other transaction, so whatever the
DBMS answers there is right as far as isolation is concerned.
"""

from acidtest.errors import TargetFailedError
from acidtest.model import History, Verdict, unknown
from acidtest.oracles.engines.asking import AskingEngine
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.engines.scratch import Scratch
from acidtest.oracles.explaining import explained
from acidtest.oracles.judging import judge_under, judge_with
from acidtest.oracles.walks import Walks
from acidtest.targets import Target

NAME = "views"


class ViewsOracle:
    """Judges with scratch tables on the target's own server."""

    name = NAME

    def __init__(self, target: Target, _walks: Walks | None = None) -> None:
        self._target = target
        self._strict: Scratch | None = None
        self._loose: Scratch | None = None

    def judge(self, history: History) -> Verdict:
        """Judge a history; an alarm is raised only if it comes again with every scratch table checked."""
        try:
            return self._judge(history)
        except TargetFailedError:
            self.close()  # the server was restarted since; the scratch tables went with it
        try:
            return self._judge(history)
        except TargetFailedError as error:
            self.close()
            return unknown(NAME, f"the scratch tables were lost: {error}")

    def close(self) -> None:
        """Drop the scratch tables."""
        for scratch in (self._strict, self._loose):
            if scratch is not None:
                scratch.close()
        self._strict = self._loose = None

    def _judge(self, history: History) -> Verdict:
        verdict = judge_with(NAME, history, lambda: self._engine(history, verifies=False)).verdict
        if verdict.is_violation:
            verdict = judge_with(NAME, history, lambda: self._engine(history, verifies=True)).verdict
        return explained(
            history,
            verdict,
            lambda claims: (
                judge_under(NAME, history, claims, lambda: self._engine(history, verifies=False)).verdict
            ),
        )

    def _engine(self, history: History, verifies: bool) -> AskingEngine:
        if history.server_died or history.final is None:
            raise UndecidedError("the server died")
        if self._strict is None:
            self._strict = Scratch(self._target)
        self._strict.verifies = verifies
        self._strict.prepare(history)

        def loose() -> Scratch:
            if self._loose is None:
                self._loose = Scratch(self._target, loose=True)
            self._loose.verifies = verifies
            self._loose.prepare(history)
            return self._loose

        return AskingEngine(history, self._strict, loose)
