"""What this machine can do, and what is missing: checks with a remedy each, asked of the machine itself.

The checks only look, except that a folder is made in the cache and one for a server, and both are removed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

from acidtest import servers
from acidtest.errors import AcidtestError
from acidtest.servers import Installation, RunningServer
from acidtest.servers.api import EMBEDDED
from acidtest.servers.base import Source
from acidtest.servers.cache import cache_root, remove_tree, scratch_folder
from acidtest.servers.places import make_place, remove_place
from acidtest.servers.process import run_to_end
from acidtest.servers.sources import SOURCES, machine
from acidtest.servers.store import ask_version
from acidtest.targets.duckdb import MEMORY, MEMORY_BYTES_MIN

OLDEST_PYTHON = (3, 11)
GIGABYTE = 1_000_000_000
DISK_BYTES_MIN = GIGABYTE
"""Room for a few servers: each takes 70 to 450 MB, and a copy of its data for every start."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked for. `needed`: without it the default server cannot be tested."""

    area: str
    name: str
    fine: bool
    found: str
    """What is there, or what it is for."""

    remedy: str = ""
    """One sentence, where it is not fine."""

    needed: bool = False


@dataclass(frozen=True, slots=True)
class Extra:
    """A distribution that some targets, or speed, need, and a module that can be imported with it."""

    module: str
    distribution: str
    purpose: str
    remedy: str
    needed: bool = False


EXTRAS = (
    Extra("psycopg", "psycopg", "PostgreSQL", "run: pip install 'acidtest[postgres]'", needed=True),
    Extra("pymysql", "PyMySQL", "MySQL, MariaDB, TiDB, seekdb", "run: pip install PyMySQL"),
    Extra("duckdb", "duckdb", "DuckDB", "run: pip install 'acidtest[duckdb]'"),
    Extra("sqlglot", "sqlglotc", "reads SQL 2 to 5 times faster", "run: pip install 'acidtest[fast]'"),
)
PROGRAMS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("tools", ("tmux",), "several clients side by side", "install tmux"),
    ("tools", ("gcc", "cc"), "drivers that have no wheel for this Python", "install a C compiler"),
    ("browser", ("chromium", "chromium-browser", "google-chrome"), "pages and reports", "install Chromium"),
    ("browser", ("chromedriver",), "pages and reports", "install chromedriver (Debian: chromium-driver)"),
)
"""Area, names of which one is enough, what for, and the remedy."""


def import_problem(module: str) -> str:
    """Why a module cannot be imported; empty if it can."""
    try:
        import_module(module)
    except ImportError as error:  # psycopg's too, where there is no libpq
        return str(error).splitlines()[0]
    return ""


def version_of(distribution: str) -> str:
    """The version of an installed package; empty if nobody knows it."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def program_problem(installation: Installation) -> str:
    """Why the program of a server does not run here; empty if it tells its version."""
    try:
        version = ask_version(installation)
    except (AcidtestError, OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if version == installation.version else f"it calls itself {version}"


def start_problem(installation: Installation) -> str:
    """Why a server cannot be started; empty if it was, and was stopped again."""
    try:
        RunningServer.start(installation).stop()
    except (AcidtestError, OSError) as error:
        return str(error).splitlines()[0]
    return ""


def cache_problem() -> str:
    """Why the cache cannot be written; empty if it can."""
    try:
        remove_tree(scratch_folder())
    except AcidtestError as error:
        return str(error)
    return ""


def user_problem() -> str:
    """Why a server that refuses root cannot run as this user; empty if a program ran as it would."""
    try:
        place, lock = make_place(drop_root=True)
    except (AcidtestError, OSError, KeyError) as error:
        return str(error)
    try:
        log = place.folder / "log"
        nothing = [sys.executable, "-c", ""] if place.owner is None else [shutil.which("true") or "/bin/true"]
        code = run_to_end(nothing, "", environment={}, folder=place.folder, log=log, owner=place.owner)
        return "" if code == 0 else log.read_text().strip().splitlines()[-1]
    finally:
        remove_place(place)
        os.close(lock)


def free_bytes(folder: Path) -> int:
    """Free space at a folder, or at the nearest folder above it that exists; 0 if we may not write there."""
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    return shutil.disk_usage(existing).free if os.access(existing, os.W_OK) else 0


def used_bytes(folder: Path) -> int:
    """The disk space that a folder takes."""
    files = (Path(path, name) for path, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_blocks * 512 for file in files if file.is_symlink() or file.exists())


@dataclass(frozen=True, slots=True)
class Lookups:
    """How the machine is asked; tests ask another one."""

    python: tuple[int, ...] = tuple(sys.version_info[:3])
    is_root: bool = os.geteuid() == 0
    sources: Sequence[Source] = SOURCES
    which: Callable[[str], str | None] = shutil.which
    import_problem: Callable[[str], str] = import_problem
    version_of: Callable[[str], str] = version_of
    cache_problem: Callable[[], str] = cache_problem
    user_problem: Callable[[], str] = user_problem
    free_bytes: Callable[[Path], int] = free_bytes
    used_bytes: Callable[[Path], int] = used_bytes
    installed: Callable[[], Sequence[Installation]] = servers.installed
    server_problem: Callable[[Installation], str] = program_problem


def examine(lookups: Lookups) -> list[Check]:
    """All checks, area by area."""
    return [
        *_python(lookups),
        *_sources(lookups),
        *_programs(lookups),
        *_places(lookups),
        *_servers(lookups),
    ]


def is_ready(checks: Sequence[Check]) -> bool:
    """Whether the main job can be done: run and judge cases on the default server."""
    return all(check.fine for check in checks if check.needed)


def _python(lookups: Lookups) -> Iterator[Check]:
    shown = ".".join(map(str, lookups.python))
    remedy = f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer"
    yield Check("python", "Python", lookups.python[:2] >= OLDEST_PYTHON, shown, remedy, needed=True)
    for extra in EXTRAS:
        version = lookups.version_of(extra.distribution)
        problem = lookups.import_problem(extra.module) if version else "it is not installed"
        found, remedy = f"{version} ({extra.purpose})", f"{problem}; {extra.remedy}"
        yield Check("python", extra.distribution, not problem, found, remedy, extra.needed)


def _sources(lookups: Lookups) -> Iterator[Check]:
    """Where servers can be had from."""
    for source in lookups.sources:
        lack = source.lacks()
        names = sorted({release.dbms for release in source.releases()})
        yield Check("sources", source.name, not lack, ", ".join(names) or "images by their tags", lack)


def _programs(lookups: Lookups) -> Iterator[Check]:
    for area, names, purpose, remedy in PROGRAMS:
        path = next(filter(None, map(lookups.which, names)), None)
        yield Check(area, names[0], path is not None, f"{path or ''} ({purpose})".lstrip(), remedy)


def _places(lookups: Lookups) -> Iterator[Check]:
    """Folders, disk, memory and user."""
    cache = cache_root()
    problem = lookups.cache_problem()
    size = f"{cache}, {_shown(lookups.used_bytes(cache))}"
    yield Check("machine", "cache", not problem, size, problem, needed=True)
    free = lookups.free_bytes(cache)
    remedy = f"free {_shown(DISK_BYTES_MIN)} there, or set ACIDTEST_CACHE to a folder on another disk"
    yield Check("machine", "disk", free >= DISK_BYTES_MIN, f"{_shown(free)} free at the cache", remedy)
    memory = lookups.free_bytes(MEMORY)
    found = f"{_shown(memory)} free at {MEMORY} (workers of a campaign; DuckDB's files, for speed)"
    remedy = f"give {MEMORY} {_shown(MEMORY_BYTES_MIN)} or more (a container's option: --shm-size)"
    yield Check("machine", "shared memory", memory >= MEMORY_BYTES_MIN, found, remedy)
    problem = lookups.user_problem()
    found = "root; PostgreSQL runs as nobody" if lookups.is_root else "no root"
    remedy = f"servers cannot run as this user: {problem}; use another user, or set TMPDIR to another folder"
    yield Check("machine", "user", not problem, found, remedy, needed=True)


def _servers(lookups: Lookups) -> Iterator[Check]:
    working = []
    for one in lookups.installed():
        problem = lookups.server_problem(one)
        if not problem and one.source != machine.NAME:  # the default is never the machine's own
            working.append(one.dbms)
        renew = f"run: acidtest server remove {one.spec} && acidtest server install {one.spec}"
        yield Check("servers", one.spec, not problem, f"from {one.source}", f"{problem}; {renew}")
    origin = next(one for one in lookups.sources if any(r.dbms == EMBEDDED for r in one.releases()))
    there, lack = EMBEDDED in working, origin.lacks()
    found = "installed" if there else "comes when it is first used, which needs the network"
    yield Check("servers", f"{EMBEDDED} (default)", there or not lack, found, lack, needed=True)


def _shown(size: int) -> str:
    return f"{size / GIGABYTE:.1f} GB" if size >= GIGABYTE else f"{size / 1_000_000:.0f} MB"
