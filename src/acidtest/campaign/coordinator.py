"""Runs a campaign: gives chunks to workers, stores what they tell, replaces those that die, shows it all."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait

from acidtest.campaign.casebook import DUPLICATE, UNREDUCED, Casebook
from acidtest.campaign.crew import Member, core_for, hire, share_out
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
    Stop,
    Stopped,
    Suspected,
    TargetLost,
)
from acidtest.campaign.plan import Chunk, Queue, Settings, cells_of
from acidtest.campaign.status import Status
from acidtest.campaign.store import Store
from acidtest.campaign.view import View, WorkerLine
from acidtest.errors import UsageError
from acidtest.targets.resolve import dbms_of

TICK_S = 0.25
"""How long to wait for news before the status is shown again."""

GRACE_S = 60.0
"""How long investigations may go on when the time is up."""

DEATHS_MAX = 3
"""So many workers may die over one chunk, and a target may fail so often in a row, before it is given up."""

CASES, TIME, INTERRUPTED, TARGET_FAILED = "cases", "time", "interrupted", "target failed"
NOTES_MAX = 5


@dataclass(frozen=True, slots=True)
class Ended:
    """How a campaign ended."""

    view: View
    stopped: str
    target_failed: str
    """Why a target had to be given up, or empty."""


class Campaign:
    """One campaign, from the first worker to the last."""

    def __init__(self, store: Store, specs: dict[str, str], workers: int, status: Status) -> None:
        self._store = store
        self._settings: Settings = store.settings()
        self._specs = specs
        self._status = status
        self._workers = workers
        self._crew: list[Member] = []
        self._queue = _queue(store, self._settings)
        self._casebook = Casebook(store)
        self._statistics = store.statistics()
        settings = self._settings
        self._levels = tuple(dict.fromkeys(cell.level for cell in cells_of(settings)))
        oracles = [name for spec in settings.targets for name in settings.oracles_for(dbms_of(spec))]
        self._oracles = tuple(dict.fromkeys(oracles))
        self._versions = store.versions()
        self._deaths: Counter[Chunk] = Counter()
        self._failures: Counter[tuple[int, str]] = Counter()
        self._notes: list[str] = []
        self._replaced = self._session_cases = self._interrupts = 0
        self._before_s = store.elapsed_s()
        self._started = time.monotonic()
        self._stopped = ""
        self._urgent = False
        self._target_failed = ""

    def run(self) -> Ended:
        """Until the limit, Ctrl-C or the loss of the last target; what was found is stored all along."""
        try:
            with self._signals():
                for number, targets in enumerate(share_out(self._settings.targets, self._workers), start=1):
                    self._hire(number, targets)
                while any(not member.stopped for member in self._crew):
                    self._tick()
        finally:
            for member in self._crew:
                member.send(Stop(at_once=True))
            for member in self._crew:
                member.dismiss()
        self._status.update(self.view())
        return Ended(self.view(), self._stopped or CASES, self._target_failed)

    def _tick(self) -> None:
        self._check_limits()
        alive = [member for member in self._crew if not member.stopped]
        wait([one.connection for one in alive] + [one.process.sentinel for one in alive], TICK_S)
        for member in alive:
            dead = member.is_dead  # asked first: what it told before it died is read after
            for message in member.messages():
                self._handle(member, message)
            if dead and not member.stopped:
                self._replace(member)
        self._status.update(self.view())

    # -- limits

    @property
    def elapsed_s(self) -> float:
        """Over all sessions of the campaign."""
        return self._before_s + time.monotonic() - self._started

    def _check_limits(self) -> None:
        limit = self._settings.seconds
        if self._interrupts:
            self._stop(INTERRUPTED, at_once=True)
        elif limit is not None and self.elapsed_s >= limit:
            self._stop(TIME, at_once=self.elapsed_s >= limit + GRACE_S)

    def _stop(self, why: str, *, at_once: bool) -> None:
        if self._urgent or (self._stopped and not at_once):
            return
        self._stopped, self._urgent = self._stopped or why, at_once
        for member in self._crew:
            member.told_to_stop = True
            member.send(Stop(at_once=at_once))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C ends the campaign in good order; a second one ends it at once."""

        def interrupted(_signal: int, _frame: object) -> None:
            self._interrupts += 1
            if self._interrupts > 1:
                for member in self._crew:
                    member.process.terminate()

        before = {one: signal.signal(one, interrupted) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    # -- workers

    def _hire(self, number: int, targets: list[str]) -> None:
        core = core_for(number, self._workers)
        member = hire(number, targets, self._settings, self._specs, core)
        self._crew.append(member)
        self._give_work(member)

    def _give_work(self, member: Member) -> None:
        chunk = None if self._stopped else self._queue.next(member.targets)
        member.chunk = chunk
        if chunk is None and not member.told_to_stop:
            member.told_to_stop = True
            member.send(Stop())
        elif chunk is not None:
            member.doing = f"{chunk.cell.target} {chunk.cell.level}"
            self._store.began(chunk)
            member.send(chunk)

    def _replace(self, member: Member) -> None:
        """A worker died. Another one goes on where it stood; a chunk that kills them all is given up."""
        if self._interrupts:
            member.stopped = True  # Ctrl-C reached it, or ended it
            return
        self._crew.remove(member)
        member.dismiss()
        chunk = member.chunk
        self._replaced += 1
        code = member.process.exitcode
        where = "" if chunk is None else f" in chunk {chunk.number} of {chunk.cell.target} {chunk.cell.level}"
        self._note(f"worker {member.number} died (exit code {code}){where}")
        if chunk is not None:
            whole = replace(chunk, position=0)
            self._deaths[whole] += 1
            if self._deaths[whole] < DEATHS_MAX:
                self._queue.give_back(chunk)
            else:
                self._target_failed = f"{DEATHS_MAX} workers died{where}; it was given up"
                self._note(self._target_failed)
        if not self._stopped:
            self._hire(member.number, member.targets)
        if not self._crew:
            self._stopped = self._stopped or TARGET_FAILED

    # -- messages

    def _handle(self, member: Member, message: FromWorker) -> None:
        match message:
            case Opened():
                self._versions[message.target] = message.version
                self._store.opened(message.target, message.version)
            case Doing():
                member.doing = message.text
            case Advanced():
                self._advanced(member, message)
            case Suspected():
                member.send(Answer(self._decide(message)))
            case Found():
                self._casebook.investigated(message, self.elapsed_s)
            case Finished():
                self._give_work(member)
            case TargetLost():
                self._target_lost(member, message)
            case Stopped():
                member.stopped = True
                member.doing = "done"
            case Note():
                self._note(message.text)

    def _advanced(self, member: Member, message: Advanced) -> None:
        self._store.advanced(message.chunk, message.position, message.statistics, self.elapsed_s)
        self._statistics.add(message.statistics)
        self._session_cases += message.statistics.cases
        self._failures[member.number, message.chunk.cell.target] = 0
        member.cases += message.statistics.cases
        member.chunk = replace(message.chunk, position=message.position)
        member.doing = f"{message.chunk.cell.target} {message.chunk.cell.level}"

    def _target_lost(self, member: Member, message: TargetLost) -> None:
        """Try again a few times; then the campaign goes on without it, or ends."""
        if message.chunk is not None:
            self._queue.give_back(message.chunk)
        if not message.may_return:
            raise UsageError(message.why)
        self._failures[member.number, message.target] += 1
        if self._failures[member.number, message.target] >= DEATHS_MAX:
            self._target_failed = message.why
            self._note(f"{message.target} is given up: {message.why}")
            for one in self._crew:
                one.targets = [target for target in one.targets if target != message.target]
        if not any(one.targets for one in self._crew):
            self._stop(TARGET_FAILED, at_once=True)
        self._give_work(member)

    def _note(self, text: str) -> None:
        self._notes = [*self._notes, text][-NOTES_MAX:]
        self._status.note(text)

    @property
    def _spent(self) -> float:
        """The share of the workers' time that investigations have taken."""
        seconds = self._statistics.seconds
        return seconds.get("reduce", 0.0) / sum(seconds.values()) if seconds else 0.0

    def _decide(self, suspect: Suspected) -> Decision:
        stopping = bool(self._stopped)
        return self._casebook.decide(suspect, stopping=stopping, spent=self._spent, seconds=self.elapsed_s)

    # -- the status

    def view(self) -> View:
        """How things stand."""
        settings = self._settings
        found = self._casebook.lines
        known = sum(bool(line.known) for line in found)
        return View(
            targets=tuple(f"{one} {self._versions.get(one, '')}".strip() for one in settings.targets),
            levels=self._levels,
            oracles=self._oracles,
            profile=settings.profile,
            seed=settings.seed,
            folder=str(self._store.folder),
            elapsed_s=self.elapsed_s,
            session_s=time.monotonic() - self._started,
            session_cases=self._session_cases,
            limit_cases=settings.cases,
            limit_s=settings.seconds,
            statistics=self._statistics,
            found=tuple(found),
            new=len(found) - known,
            known=known,
            duplicates=self._casebook.became[DUPLICATE],
            unreduced=self._casebook.became[UNREDUCED],
            workers=tuple(WorkerLine(one.number, one.doing, one.cases) for one in self._crew),
            replaced=self._replaced,
            crashes=self._casebook.crashes,
            notes=tuple(self._notes),
        )


def _queue(store: Store, settings: Settings) -> Queue:
    """The chunks that are left, of a new campaign or of one that goes on."""
    chunks = store.chunks()
    begun = [chunk for chunk in chunks if chunk.position < chunk.size]
    queue = Queue(cells_of(settings), settings.cases, begun, sum(chunk.position for chunk in chunks))
    for chunk in chunks:
        queue.skip_to(chunk.cell, chunk.number + 1)
    return queue
