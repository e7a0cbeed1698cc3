"""A running server: start, readiness, stop, restart."""

import atexit
import fcntl
import os
import shutil
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from acidtest.errors import UsageError
from acidtest.servers.base import Endpoint, Flavour, Installation, Launch, Place, ServerFailedError
from acidtest.servers.flavours import FLAVOURS
from acidtest.servers.logs import TAIL_LINES, last_words, new_log, read_end, tail
from acidtest.servers.places import make_place, remove_place
from acidtest.servers.pristine import fill, hand_over, reachable
from acidtest.servers.process import ServerProcess
from acidtest.servers.store import hold_in_use

READY_SECONDS_MAX = 120
STOP_SECONDS_MAX = 30
PACE_SECONDS = 0.005
"""How often to knock at a socket that does not exist yet; the end of the process is noticed at once."""

PORT_TRIES_MAX = 10
PORT_TAKEN = "address already in use"


class RunningServer:
    """A server in a private directory, ours until `stop`. Use it as a context manager, or stop it."""

    def __init__(self, launch: Launch, process: ServerProcess, log: Path) -> None:
        self._launch = launch
        self._process = process
        self._holds: list[int] = []
        self._lifeline: int | None = None
        self._maker = os.getpid()
        self.log = log

    @classmethod
    def start(
        cls,
        installation: Installation,
        *,
        port: int | None = None,
        detached: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> Self:
        """Start a fresh server and wait until it serves. A detached one survives this process."""
        flavour = FLAVOURS[installation.dbms]
        if port is not None and not _is_free(port):
            raise UsageError(f"port {port} is in use; choose another one, or leave it out to get a free one")
        place, lock = make_place(flavour.refuses_root)
        server = cls(Launch(installation, place, 0, ""), _NOT_STARTED, Path())
        server._holds = [lock]
        try:
            password = fill(installation, flavour, place)
            server._holds.append(hold_in_use(installation))
            server._launch = Launch(reachable(installation, place), place, 0, password, options or {})
            server.log = new_log(installation.spec)
            server._serve(port, detached)
        except BaseException:  # Ctrl-C while we wait, too
            server.kill()
            server.stop()
            raise
        if not detached:
            _LIVE.add(server)
        return server

    @property
    def dbms(self) -> str:
        return self._launch.installation.dbms

    @property
    def version(self) -> str:
        return self._launch.installation.version

    @property
    def spec(self) -> str:
        return self._launch.installation.spec

    @property
    def installation(self) -> Installation:
        return self._launch.installation

    @property
    def place(self) -> Place:
        return self._launch.place

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def endpoint(self) -> Endpoint:
        """How to reach it over its unix socket, without a password."""
        return self._flavour.endpoint(self._launch)

    @property
    def tcp_endpoint(self) -> Endpoint | None:
        """How to reach it over its loopback port, with a password; None if it has no port."""
        return self._flavour.tcp_endpoint(self._launch)

    @property
    def _flavour(self) -> Flavour:
        return FLAVOURS[self.dbms]

    def serve_with(self, arguments: Sequence[str]) -> None:
        """What to add to the command line from the next `restart` on, instead of what was added before."""
        self._launch = replace(self._launch, arguments=tuple(arguments))

    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not _NOT_STARTED and not self._process.ended_within(0)

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """The last lines of its log."""
        return tail(self.log, lines)

    def stop(self) -> None:
        """Stop it cleanly, by force if it does not obey, and remove its directory. May be called again."""
        self._end()
        remove_place(self.place)
        _close_all(self._holds)
        _LIVE.discard(self)

    def kill(self) -> None:
        """SIGKILL, and wait for the end. The directory stays, for `restart`."""
        if self._process is not _NOT_STARTED:
            self._process.kill_all()
            self._process.ended_within(STOP_SECONDS_MAX)

    def restart(self, fresh: bool = False) -> None:
        """Start it again, after its death or after stopping it; `fresh` throws its data away.

        The socket stays where it was; the port too, unless somebody took it meanwhile."""
        self._end()
        if fresh:
            shutil.rmtree(self.place.data)
            fill(self.installation, self._flavour, self.place)
        self._serve(None, detached=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _serve(self, port: int | None, detached: bool) -> None:
        """Start the process on a free port, again with another one if somebody else was faster."""
        wishes = [port] if port is not None else [self._launch.port] * bool(self._launch.port)
        for _ in range(PORT_TRIES_MAX):
            chosen = wishes.pop() if wishes else _free_port() if self._flavour.listens_on_tcp else 0
            self._launch = replace(self._launch, port=chosen)
            begin = self.log.stat().st_size
            self._spawn(detached)
            if self._wait_until_ready():
                return
            if port is not None or PORT_TAKEN not in "\n".join(read_end(self.log, begin)).lower():
                break
        raise ServerFailedError(f"{self.spec} did not start; {last_words(self.log, begin)}")

    def _spawn(self, detached: bool) -> None:
        flavour, launch = self._flavour, self._launch
        flavour.socket_path(self.place, launch.port).unlink(missing_ok=True)
        keep = list(self._holds)
        self._take_lifeline()
        if detached and self._lifeline is not None:
            keep.append(self._lifeline)
        self._process = ServerProcess.start(
            [*flavour.command(launch), *launch.arguments],
            environment={**self.installation.environment(), **flavour.environment(launch)},
            folder=self.place.folder,
            log=self.log,
            owner=self.place.owner,
            death_signal=None if detached else flavour.death_signal,
            keep=keep,
        )

    def _take_lifeline(self) -> None:
        path = self._flavour.lifeline(self.place)
        if path is not None and self._lifeline is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lifeline = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            hand_over(path.parent, self.place.owner)
            fcntl.flock(self._lifeline, fcntl.LOCK_SH)

    def _end(self) -> None:
        """Make the process end and let go of it."""
        if self._process is _NOT_STARTED:
            return
        self._process.signal(self._flavour.stop_signal)
        if not self._process.ended_within(STOP_SECONDS_MAX):
            self.kill()
        self._process.close()
        self._process = _NOT_STARTED
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    def _wait_until_ready(self) -> bool:
        """Knock until the server lets us in; False if it ends first. A hung one is killed after the limit."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        path = str(self._flavour.socket_path(self.place, self._launch.port))
        while time.monotonic() < deadline:
            if self._knock(path):
                return True
            if self._process.ended_within(PACE_SECONDS):
                return False
        self.kill()
        raise ServerFailedError(
            f"{self.spec} was not ready after {READY_SECONDS_MAX} s; {last_words(self.log)}"
        )

    def _knock(self, path: str) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(READY_SECONDS_MAX)
            try:
                connection.connect(path)
                return self._flavour.is_ready(connection)
            except OSError:  # not there yet, or it went away while we asked: the caller looks at the process
                return False


_NOT_STARTED = ServerProcess(0, -1)
_LIVE: "weakref.WeakSet[RunningServer]" = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Leave nothing running when the interpreter ends in order; the kernel sees to the other ways."""
    for server in list(_LIVE):
        if server._maker == os.getpid():  # a forked child must not stop the servers of its parent
            server.stop()


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
