"""The worker processes of a campaign, as the coordinator sees them."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from ctypes import c_long
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from acidtest.campaign.messages import FromWorker, ToWorker
from acidtest.campaign.plan import Chunk, Settings
from acidtest.campaign.worker import NOWHERE, work

KILL_AFTER_S = 5.0
"""How long a worker that is made to end may take to give its servers back."""

# A forked worker would share the coordinator's open files and locks; a new process shares nothing.
_PROCESSES = get_context("spawn")


@dataclass(slots=True)
class Member:
    """A worker: its process, what it is at, and the targets that it is for."""

    number: int
    targets: list[str]
    process: BaseProcess
    connection: Connection
    at: c_long
    """The position of the case that it examines, in memory that outlives it; NOWHERE between chunks."""
    chunk: Chunk | None = None
    """What it was given and has not finished, with the position that it has reported."""
    doing: str = "starting"
    cases: int = 0
    stopped: bool = False
    told_to_stop: bool = False
    heard_at: float = field(default_factory=time.monotonic)
    """When it told something, or was told to stop."""
    forced_at: float | None = None

    def send(self, message: ToWorker) -> None:
        """Tell the worker something; one that has just died is noticed elsewhere."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(message)

    def messages(self) -> list[FromWorker]:
        """What it has told since the last time; empty also if it is gone."""
        told: list[FromWorker] = []
        try:
            while self.connection.poll():
                told.append(self.connection.recv())
        except (EOFError, OSError):
            pass  # it died, perhaps in the middle of a message
        if told:
            self.heard_at = time.monotonic()
        return told

    @property
    def is_dead(self) -> bool:
        return not self.process.is_alive()

    def force(self) -> None:
        """Make it end; called again and again, it kills one that does not."""
        if self.forced_at is None:
            self.forced_at = time.monotonic()
            self.process.terminate()
        elif time.monotonic() - self.forced_at > KILL_AFTER_S:
            self.process.kill()

    def bury(self) -> None:
        """Its process has ended."""
        self.process.join()
        self.connection.close()


def hire(
    number: int, targets: Sequence[str], settings: Settings, specs: dict[str, str], core: int | None
) -> Member:
    """Start a worker, on a core of its own if there is one for it. `specs` say how targets are reached, with
    passwords, which are kept out of settings."""
    ours, theirs = _PROCESSES.Pipe()
    at = _PROCESSES.RawValue(c_long, NOWHERE)
    process = _PROCESSES.Process(
        target=work, args=(theirs, at, settings, specs, core), name=f"acidtest-worker-{number}"
    )
    # A Ctrl-C that comes while the worker is still importing must not end it: what is ignored stays ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)
    theirs.close()
    return Member(number, list(targets), process, ours, at)


def core_for(number: int, workers: int) -> int | None:
    """The core of the worker with that number (from 1 on); None if there are fewer cores than workers.

    A worker and its server take turns, so they need one core. Measured: on one they do 1.3 times as many
    cases as when the kernel spreads them, because waking another core costs more than the work.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    # Campaigns beside each other should not all begin with the same core.
    return cores[(number - 1 + os.getpid()) % len(cores)] if workers <= len(cores) else None


def share_out(targets: Sequence[str], workers: int) -> list[list[str]]:
    """Which worker is for which targets: as few servers each as can be."""
    if workers <= len(targets):
        return [list(targets[number::workers]) for number in range(workers)]
    return [[targets[number % len(targets)]] for number in range(workers)]
