"""Real servers by name and version: where they come from, where they are kept, how they run.

Three ideas, each one small file per variant:

- a *source* knows releases and puts one of them into a folder (Debian suite, wheel, npm package, machine);
- a *flavour* knows how the server of one DBMS is initialised, started and spoken to;
- the *store* keeps installations in the per-user cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Release:
    """A version that can be had, and from where."""

    dbms: str
    version: str
    source: str
    size_bytes: int | None = None
    package: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """Unpacked server files. `command` starts the server binary (with its own loader, where it has one)."""

    dbms: str
    version: str
    source: str
    root: Path
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach a running server; passwords are kept out of `repr`."""

    dbms: str
    socket: str | None
    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    database: str = ""


Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and how much there is in all if that is known."""


class Source(Protocol):
    """Somewhere releases come from."""

    name: str

    def releases(self) -> Sequence[Release]:
        """What can be had here and now; empty if this source cannot be used on this machine."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Installation:
        """Download, verify and unpack a release into an empty folder."""
