"""One server process: started as the right user, tied to our life if wished, watched without sleeping.

The kernel sends `death_signal` to the server when the *thread* that started it ends: a server must not be
started from a thread that ends before the server is stopped.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from acidtest.servers import launcher


@dataclass(slots=True)
class ServerProcess:
    """A running process, ours by birth (`popen`) or found again by its id."""

    pid: int
    descriptor: int
    """A pidfd: names this very process even after its number is used again, and is readable at its end."""

    popen: "subprocess.Popen[bytes] | None" = None

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        owner: int | None,
        death_signal: signal.Signals | None,
        keep: Sequence[int],
    ) -> Self:
        """Start a command in a session of its own, so that Ctrl-C reaches us and not the server."""
        with log.open("ab") as output, _launching(command, environment, owner, death_signal) as launch:
            popen = subprocess.Popen(
                launch.command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[*keep, launch.order],
            )
        return cls(popen.pid, os.pidfd_open(popen.pid), popen)

    @classmethod
    def find(cls, pid: int, born: str) -> Self | None:
        """The process of that id if it is still the one that was born then."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        if birth(pid) != born:
            os.close(descriptor)
            return None
        return cls(pid, descriptor)

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end, at most so long."""
        poller = select.poll()
        poller.register(self.descriptor, select.POLLIN)
        ended = bool(poller.poll(seconds * 1000))
        if ended and self.popen is not None:
            self.popen.wait()
        return ended

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; none if it has ended."""
        if not self.ended_within(0):
            signal.pidfd_send_signal(self.descriptor, number)

    def kill_all(self) -> None:
        """SIGKILL to it and to all that it started: PostgreSQL's backends outlive their parent a while."""
        family = _descendants(self.pid)
        self.signal(signal.SIGKILL)
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def run_to_end(
    command: Sequence[str],
    text: str,
    *,
    environment: Mapping[str, str],
    folder: Path,
    log: Path,
    owner: int | None,
) -> int:
    """Run a helper program (initialisation) to its end with this input, its output in the log."""
    with log.open("ab") as output, _launching(command, environment, owner, signal.SIGKILL) as launch:
        done = subprocess.run(
            launch.command,
            input=text.encode(),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[launch.order],
            check=False,
        )
    return done.returncode


def _descendants(pid: int) -> list[int]:
    """Processes that a process started, and those that they started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    found, todo = [], [pid]
    while todo:
        own = children.get(todo.pop(), [])
        found += own
        todo += own
    return found


def birth(pid: int) -> str:
    """When a process started, in the kernel's ticks: with the id it names the process for good."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return stat.rpartition(")")[2].split()[19]


@dataclass(frozen=True, slots=True)
class _Launch:
    """A command line that starts the launcher, and the descriptor of its order."""

    command: list[str]
    order: int


@contextmanager
def _launching(
    command: Sequence[str],
    environment: Mapping[str, str],
    owner: int | None,
    death_signal: signal.Signals | None,
) -> Iterator[_Launch]:
    """How to start a command through the launcher, for as long as it takes to start it."""
    order = launcher.write_order(list(command), dict(environment), owner, death_signal)
    try:
        # isolated and without site-packages: nothing of the user's Python can run in it
        yield _Launch([sys.executable, "-I", "-S", launcher.__file__, str(order)], order)
    finally:
        os.close(order)
