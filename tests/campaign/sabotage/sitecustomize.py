"""Python imports this at its start if the folder is on PYTHONPATH: faults for campaigns, by environment."""

import os
import signal
import time
from typing import Any

if os.environ.get("CRASH_AT"):  # the end of a case's id: the DBMS takes the process along
    from acidtest.execute import Executor

    run = Executor.run

    def crash(self: Executor, case: Any, *arguments: Any, **named: Any) -> Any:
        if case.id.endswith(os.environ["CRASH_AT"]):
            os.kill(os.getpid(), signal.SIGSEGV)
        return run(self, case, *arguments, **named)

    Executor.run = crash  # type: ignore[method-assign]

if os.environ.get("DEFECT_AT"):  # the end of a case's id: something of ours has a defect
    from acidtest.execute import Executor

    run_case = Executor.run

    def fail(self: Executor, case: Any, *arguments: Any, **named: Any) -> Any:
        if case.id.endswith(os.environ["DEFECT_AT"]):
            raise KeyError("the executor's")
        return run_case(self, case, *arguments, **named)

    Executor.run = fail  # type: ignore[method-assign]

if os.environ.get("ORACLE_DEFECT_AT"):  # the end of a case's id: an oracle of ours has a defect
    from acidtest.oracles.solver import SolverOracle

    judge = SolverOracle.judge

    def defect(self: SolverOracle, history: Any) -> Any:
        if history.case.id.endswith(os.environ["ORACLE_DEFECT_AT"]):
            raise KeyError("an oracle's")
        return judge(self, history)

    SolverOracle.judge = defect  # type: ignore[method-assign]

if os.environ.get("LOST_TARGET"):  # it was there when the campaign began, and cannot be opened by workers
    from multiprocessing import parent_process

    from acidtest.errors import TargetFailedError
    from acidtest.targets import resolve

    open_target = resolve.open_target

    def lost(spec: str) -> Any:
        if spec == os.environ["LOST_TARGET"] and parent_process() is not None:
            raise TargetFailedError(f"{spec} is gone for good")
        return open_target(spec)

    resolve.open_target = lost

if os.environ.get("SLOW_CLOSING_S"):  # a server that takes its time to stop
    from acidtest.pipeline import Pipeline

    close = Pipeline.close

    def slowly(self: Pipeline) -> None:
        close(self)
        time.sleep(float(os.environ["SLOW_CLOSING_S"]))

    Pipeline.close = slowly  # type: ignore[method-assign]

if os.environ.get("SILENCE_S"):  # who says nothing for so long is taken to hang
    from acidtest.campaign import coordinator

    coordinator.SILENCE_S = coordinator.SILENCE_AT_END_S = float(os.environ["SILENCE_S"])
    coordinator.GRACE_S = 0.0
