"""Runs a campaign: gives chunks to workers, stores what they tell, replaces those that die, shows it all."""

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait

from acidtest.campaign.casebook import UNREDUCED, Casebook
from acidtest.campaign.crash import case_at, crash_finding, crash_of
from acidtest.campaign.crew import Member, core_for, hire, share_out
from acidtest.campaign.defects import DefectLog
from acidtest.campaign.messages import (
    Advanced,
    Answer,
    Decision,
    Defect,
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
from acidtest.campaign.plan import Cell, Chunk, Queue, Settings, cells_of
from acidtest.campaign.status import Status
from acidtest.campaign.store import Store
from acidtest.campaign.view import View, WorkerLine
from acidtest.campaign.worker import NOWHERE
from acidtest.errors import UsageError
from acidtest.targets.resolve import is_embedded

TICK_S = 0.25
"""How long to wait for news before the status is shown again."""

GRACE_S = 60.0
"""How long investigations may go on when the time is up."""

LEAVING_S = 20.0
"""How long workers that have stopped may take to give their servers back."""

SILENCE_S, SILENCE_AT_END_S = 600.0, 60.0
"""How long a worker may tell nothing before it is taken to hang; the latter when it was told to stop at once.
Both are longer than a statement may take (30 s, and 5 s to cancel it)."""

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
        settings = self._settings
        cells = cells_of(settings)
        self._queue = Queue(cells, settings.cases, store.chunks())
        self._casebook = Casebook(store)
        self._defects = DefectLog(store.folder)
        self._statistics = store.statistics()
        self._levels = tuple(dict.fromkeys(level.short for cell in cells for level in cell.levels))
        oracles = settings.all_oracles()
        self._oracles = tuple(dict.fromkeys(oracles))
        self._versions = store.versions()
        self._deaths: Counter[tuple[Cell, int]] = Counter()
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
        with self._signals():
            try:
                self._check_limits()
                for number, targets in enumerate(share_out(self._settings.targets, self._workers), start=1):
                    self._hire(number, targets)
                while any(not member.stopped for member in self._crew):
                    self._tick()
                self._store.ended(self.elapsed_s)
            finally:
                self._dismiss()
        self._status.update(self.view())
        stopped = self._stopped or (TARGET_FAILED if self._target_failed else CASES)
        return Ended(self.view(), stopped, self._target_failed)

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
            elif not dead and self._is_to_be_forced(member):
                member.force()
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
            member.heard_at = time.monotonic()
            member.send(Stop(at_once=at_once))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C ends the campaign in good order; a second one makes the workers end."""

        def interrupted(_signal: int, _frame: object) -> None:
            self._interrupts += 1

        before = {one: signal.signal(one, interrupted) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    # -- workers

    def _hire(self, number: int, targets: list[str]) -> None:
        """Start a worker, if there is something to do for it."""
        chunk = self._next_chunk(targets)
        if chunk is None:
            return
        core = core_for(number, self._workers)
        member = hire(number, targets, self._settings, self._specs, core)
        self._crew.append(member)
        self._give(member, chunk)

    def _next_chunk(self, targets: list[str]) -> Chunk | None:
        return None if self._stopped else self._queue.next(targets)

    def _give_work(self, member: Member) -> None:
        member.chunk = None
        chunk = self._next_chunk(member.targets)
        if chunk is not None:
            self._give(member, chunk)
        elif not member.told_to_stop:
            member.told_to_stop = True
            member.send(Stop())

    def _give(self, member: Member, chunk: Chunk) -> None:
        member.chunk = chunk
        member.doing = f"{chunk.cell.target} {chunk.cell.level}"
        self._store.began(chunk)
        member.send(chunk)

    def _replace(self, member: Member) -> None:
        """A worker died. Another one goes on where it stood; a chunk that kills them all is given up."""
        crash = self._crashed(member)
        if self._interrupts:
            member.stopped = True  # Ctrl-C reached it, or ended it
            return
        self._crew.remove(member)
        member.bury()
        chunk = member.chunk
        self._replaced += 1
        how = "hung and was ended" if member.forced_at is not None else f"died ({_exit(member)})"
        where = "" if chunk is None else f" in chunk {chunk.number} of {chunk.cell.target} {chunk.cell.level}"
        self._note(f"worker {member.number} {how}{where}")
        if chunk is not None and crash is not None:
            self._queue.give_back(replace(chunk, deadly=chunk.deadly | {crash}))
        elif chunk is not None:
            self._deaths[chunk.cell, chunk.number] += 1
            if self._deaths[chunk.cell, chunk.number] < DEATHS_MAX:
                self._queue.give_back(chunk)
            else:
                self._target_failed = f"{DEATHS_MAX} workers died{where}; it was given up"
                self._note(self._target_failed)
        self._hire(member.number, member.targets)

    def _crashed(self, member: Member) -> int | None:
        """Store it as a finding if a worker crashed with the DBMS inside it; the position of the case."""
        chunk, position, crash = member.chunk, member.at.value, crash_of(member.process.exitcode)
        if chunk is None or position == NOWHERE or crash is None or not is_embedded(chunk.cell.target):
            return None
        target, version = chunk.cell.target, self._versions[chunk.cell.target]
        case = case_at(chunk, position, self._settings, version)
        finding = crash_finding(case, target, version, self._settings.seed, crash)
        self._casebook.crashed(finding, self.elapsed_s)
        return position

    def _is_to_be_forced(self, member: Member) -> bool:
        """Whether a worker hangs, or the user will not wait for it."""
        silence = SILENCE_AT_END_S if self._urgent else SILENCE_S
        impatient = self._interrupts > 1
        return impatient or member.forced_at is not None or time.monotonic() - member.heard_at > silence

    def _dismiss(self) -> None:
        """Wait for the workers' end, and force it if it does not come. A signal only shortens the wait."""
        for member in self._crew:
            member.send(Stop(at_once=True))
        until, interrupts = time.monotonic() + LEAVING_S, self._interrupts
        while alive := [member for member in self._crew if not member.is_dead]:
            wait([member.process.sentinel for member in alive], TICK_S)
            if time.monotonic() > until or self._interrupts > min(interrupts, 1):
                for member in alive:
                    member.force()
        for member in self._crew:
            member.bury()

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
            case Sighted():
                self._casebook.sighted(message, self.elapsed_s)
            case Found():
                self._casebook.investigated(message, self.elapsed_s)
            case Finished():
                self._give_work(member)
            case TargetLost():
                self._target_lost(member, message)
            case Stopped():
                member.stopped = True
                member.doing = "done"
            case Defect():
                sentence = self._defects.add(message)
                if sentence is not None:
                    self._note(sentence)
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
            duplicates=self._casebook.duplicates,
            unreduced=self._casebook.became[UNREDUCED],
            workers=tuple(WorkerLine(one.number, one.doing, one.cases) for one in self._crew),
            replaced=self._replaced,
            crashes=self._casebook.crashes,
            notes=tuple(self._notes),
        )


def _exit(member: Member) -> str:
    code = member.process.exitcode
    return crash_of(code) or f"exit code {code}"
