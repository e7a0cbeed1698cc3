"""A target on the bench: an executor that runs cases on it, and all oracles to judge them."""

import pytest

from acidtest.execute import Executor
from acidtest.model import Case, History, Verdict
from acidtest.oracles.registry import ORACLES, Oracle, make_oracles
from acidtest.targets.resolve import open_target


class Bench:
    """One target, its executor and its oracles."""

    def __init__(self, spec: str) -> None:
        self.executor = Executor(open_target(spec))
        self.oracles: dict[str, Oracle] = {
            one.name: one for one in make_oracles(ORACLES, self.executor.target)
        }

    def run(self, case: Case, fresh: bool = False) -> History:
        return self.executor.run(case, fresh)

    def judge(self, history: History) -> dict[str, Verdict]:
        """By oracle, of those that have something to say."""
        verdicts = {name: oracle.judge(history) for name, oracle in self.oracles.items()}
        return {name: verdict for name, verdict in verdicts.items() if verdict is not None}

    def close(self) -> None:
        for oracle in self.oracles.values():
            oracle.close()
        self.executor.close()
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
