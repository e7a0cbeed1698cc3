"""A worker process: examines the chunks it is given, on targets of its own, and investigates suspects."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from ctypes import c_long
from dataclasses import replace
from multiprocessing.connection import Connection

from acidtest.campaign.crash import case_at
from acidtest.campaign.defects import defect_at
from acidtest.campaign.messages import (
    Advanced,
    Answer,
    Decision,
    Doing,
    Finished,
    Found,
    FromWorker,
    Note,
    Opened,
    Sighted,
    Stop,
    Stopped,
    Suspected,
    TargetLost,
)
from acidtest.campaign.plan import Chunk, Settings
from acidtest.campaign.statistics import SET_UP_REFUSED, Statistics
from acidtest.casefile import print_case
from acidtest.errors import AcidtestError, TargetFailedError, UnreachableError
from acidtest.examine import Examined
from acidtest.findings.signature import signature_of
from acidtest.model import History
from acidtest.pipeline import Pipeline, Trial
from acidtest.report.prose import level_of
from acidtest.targets import Target
from acidtest.targets.resolve import open_target

REPORT_EVERY_S = 0.5
"""What is not reported when a campaign is killed is examined again when it goes on."""

NOWHERE = -1
"""The position of a worker that examines no case."""


def work(
    connection: Connection, at: c_long, settings: Settings, specs: dict[str, str], core: int | None
) -> None:
    """The main function of a worker process. It ends when it is told to, or with the coordinator."""
    if core is not None:
        os.sched_setaffinity(0, {core})  # the servers that it starts inherit it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the coordinator decides
    signal.signal(signal.SIGTERM, _leave)  # so that servers and databases are given back
    try:
        with ExitStack() as resources:
            Worker(connection, at, settings, specs, resources).run()
    except (BrokenPipeError, EOFError, ConnectionResetError):
        pass  # the coordinator is gone, and with it whoever would want a report


def _leave(_signal: int, _frame: object) -> None:
    raise SystemExit(0)


class Worker:
    """Keeps every target that it was given a chunk for open until the end."""

    def __init__(
        self,
        connection: Connection,
        at: c_long,
        settings: Settings,
        specs: dict[str, str],
        resources: ExitStack,
    ) -> None:
        self._connection = connection
        self._at = at
        self._settings = settings
        self._specs = specs
        self._resources = resources
        self._pipelines: dict[str, Pipeline] = {}
        self._versions: dict[str, str] = {}
        self._compared: Target | None = None
        self._stop: Stop | None = None
        self._broken_off = False
        self._unheard = False
        """A Stop came before the answer to a question; the answer is still to come."""

    def run(self) -> None:
        """Chunk after chunk."""
        while self._stop is None:
            message = self._connection.recv()
            if isinstance(message, Chunk):
                self._chunk(message)
            elif isinstance(message, Stop):
                self._stop = message
        self._tell(Stopped())

    def _chunk(self, chunk: Chunk) -> None:
        report = _Report(chunk, self._tell)
        target = chunk.cell.target
        goes_on = True
        try:
            pipeline = self._pipeline(target)
            while goes_on and report.left.position < chunk.size:
                goes_on = self._stretch(report, pipeline)
        except AcidtestError as error:
            report.send()
            self._forget(target)
            # Every address answered when the campaign began.
            may_return = isinstance(error, TargetFailedError | UnreachableError)
            self._tell(TargetLost(target, str(error), may_return, report.left))
            return
        except Exception as error:  # that of a case is caught with the case
            self._tell(defect_at(target, error))
            self._tell(TargetLost(target, f"{target} could not be opened: {error}", True, report.left))
            return
        finally:
            self._at.value = NOWHERE
        report.send()
        if goes_on:
            self._tell(Finished(chunk))

    def _stretch(self, report: "_Report", pipeline: Pipeline) -> bool:
        """Examine the cases of a chunk up to one that has to be passed by; False if it is time to stop."""
        chunk = report.left
        if chunk.position in chunk.deadly:
            report.count_deadly()
            return True
        end = min((one for one in chunk.deadly if one > chunk.position), default=chunk.size)
        dice = chunk.dice(self._settings.seed)
        cases = pipeline.examine(dice, chunk.cell.levels, chunk.name, start=chunk.position)
        try:
            for position in range(chunk.position, end):
                self._at.value = position
                goes_on = self._examined(next(cases), report, pipeline)
                self._listen()
                if self._stop is not None or not goes_on:
                    return False
        except AcidtestError:
            raise
        except Exception as error:  # whatever it is, it must not cost the other cases
            self._tell(defect_at(self._case_id(report.left), error))
            report.count_defect()
        return True

    def _case_id(self, chunk: Chunk) -> str:
        """The id of the case at the position of a chunk."""
        try:
            version = self._versions[chunk.cell.target]
            return case_at(chunk, chunk.position, self._settings, version).id
        except Exception:  # it cannot be generated, which may be the very defect
            return f"case {chunk.position} of {chunk.name}"

    def _examined(self, case: Trial, report: "_Report", pipeline: Pipeline) -> bool:
        """Count a case; False if that has to wait until the campaign goes on."""
        for examined in (case.late, case.examined):
            if examined is not None and not self._followed_up(examined, report, pipeline):
                return False
        if case.examined is None and report.statistics.undecided[SET_UP_REFUSED] == 0:
            self._tell(Note(f"the set-up of {case.case.id} was refused: {case.refusal}"))
        report.count(case)
        return True

    def _followed_up(self, examined: Examined, report: "_Report", pipeline: Pipeline) -> bool:
        """Have a violation looked into, if there is one; False if that has to wait."""
        verdict = examined.violation
        if verdict is None:
            return True
        report.send()  # what went before: if the campaign is killed now, it goes on with this very case
        history = examined.history
        suspect = Suspected(
            report.target,
            level_of(history),
            history.case.id,
            signature_of(history, verdict),
            print_case(history.case),
        )
        self._tell(suspect)
        decision = self._answer()
        if decision is Decision.INVESTIGATE:
            return self._investigate(examined, suspect, pipeline, report)
        if decision is Decision.CONFIRM:
            self._tell(Sighted(suspect, pipeline.shows_again(examined)))
            return True
        return decision is Decision.PASS_BY

    def _investigate(self, case: Examined, suspect: Suspected, pipeline: Pipeline, report: "_Report") -> bool:
        """Whether the investigation came to an end."""
        started = time.perf_counter()
        try:
            finding = pipeline.investigate(case, self._settings.seed, self._progress)
        except KeyboardInterrupt:
            return False
        report.statistics.seconds["reduce"] = time.perf_counter() - started
        self._tell(Found(finding, suspect))
        return True

    def _progress(self, doing: str) -> None:
        """Called in the middle of an investigation: a place to break it off, once. A reduction that is broken
        off still gives a finding."""
        self._tell(Doing(doing))
        self._listen()
        if self._stop is not None and self._stop.at_once and not self._broken_off:
            self._broken_off = True
            raise KeyboardInterrupt

    # -- talking

    def _listen(self) -> None:
        """Take a Stop, if one has come."""
        while self._connection.poll():
            message = self._connection.recv()
            if isinstance(message, Answer) and self._unheard:
                self._unheard = False
                continue
            assert isinstance(message, Stop), message
            self._stop = message

    def _answer(self) -> Decision:
        while True:
            message = self._connection.recv()
            if isinstance(message, Answer):
                return message.decision
            assert isinstance(message, Stop), message
            self._stop = message
            if message.at_once:
                self._unheard = True
                return Decision.LEAVE

    def _tell(self, message: FromWorker) -> None:
        self._connection.send(message)

    # -- targets

    def _pipeline(self, name: str) -> Pipeline:
        if name not in self._pipelines:
            self._tell(Doing(f"starting {name}"))
            target = self._resources.enter_context(open_target(self._specs[name]))
            settings = self._settings
            profile = settings.generator_profile()
            pipeline = Pipeline(
                target,
                settings.all_oracles(),
                profile,
                self._oracle_failed,
                against=self._against(),
                instrumented=settings.instrument,
            )
            self._pipelines[name] = self._resources.enter_context(pipeline)
            self._versions[name] = target.version
            self._tell(Opened(name, target.version))
        return self._pipelines[name]

    def _against(self) -> Target | None:
        """The target to compare with, opened once and shared by all that it is compared with."""
        name = self._settings.against
        if name is not None and self._compared is None:
            self._tell(Doing(f"starting {name}"))
            self._compared = self._resources.enter_context(open_target(self._specs[name]))
        return self._compared

    def _oracle_failed(self, history: History, oracle: str, error: Exception) -> None:
        self._tell(defect_at(f"{history.case.id}, oracle {oracle}", error))

    def _forget(self, name: str) -> None:
        """A target that failed is opened anew, should it be asked for again."""
        self._pipelines.pop(name, None)


class _Report:
    """Counts the cases of a chunk and tells the coordinator now and then."""

    def __init__(self, chunk: Chunk, tell: Callable[[FromWorker], None]) -> None:
        self.statistics = Statistics()
        self.target = chunk.cell.target
        self._chunk = chunk
        self._position = chunk.position
        self._tell = tell
        self._last = time.monotonic()

    @property
    def left(self) -> Chunk:
        """The part of the chunk that is not examined yet."""
        return replace(self._chunk, position=self._position)

    def count(self, case: Trial) -> None:
        """One more case has been examined."""
        self.statistics.count(case)
        self._advance()

    def count_deadly(self) -> None:
        """The next case ends the process it runs in."""
        self.statistics.count_deadly()
        self._advance()

    def count_defect(self) -> None:
        """The next case cannot be examined, through a fault of ours."""
        self.statistics.count_defect()
        self._advance()

    def _advance(self) -> None:
        self._position += 1
        if time.monotonic() - self._last > REPORT_EVERY_S:
            self.send()

    def send(self) -> None:
        """Report what was counted since the last time."""
        if self.statistics.cases:
            self._tell(Advanced(self._chunk, self._position, self.statistics))
            self.statistics = Statistics()
        self._last = time.monotonic()
