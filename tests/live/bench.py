"""A target on the bench: an executor that runs cases on it, and all oracles to judge them."""

import pytest

from acidtest.examine import Examiner
from acidtest.model import Case, History, Judgement, Verdict
from acidtest.oracles.registry import ORACLES
from acidtest.targets.resolve import open_target


class Bench:
    """One target, its executor and its oracles."""

    def __init__(self, spec: str) -> None:
        self.examiner = Examiner(open_target(spec), ORACLES)
        self.executor = self.examiner.executor

    def run(self, case: Case, fresh: bool = False) -> History:
        return self.executor.run(case, fresh)

    def judge(self, history: History) -> dict[str, Verdict]:
        """By oracle, of those that have something to say. `replay` may abstain, with its reason."""
        verdicts = {verdict.oracle: verdict for verdict in self.examiner.judge(history)}
        assert not [verdict for verdict in verdicts.values() if verdict.defect]
        if "replay" in verdicts and verdicts["replay"].judgement is Judgement.UNKNOWN:
            assert verdicts.pop("replay").reason
        return verdicts

    def close(self) -> None:
        self.examiner.close()
        self.executor.target.close()


class Benches:
    """One bench for each target, made when it is first asked for."""

    def __init__(self) -> None:
        self._open: dict[str, Bench] = {}

    def of(self, spec: str) -> Bench:
        if spec == "duckdb":
            pytest.importorskip("duckdb")
        if spec not in self._open:
            self._open[spec] = Bench(spec)
        return self._open[spec]

    def close(self) -> None:
        for bench in self._open.values():
            bench.close()
