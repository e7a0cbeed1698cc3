"""Servers from Debian's suites, each run with the C library and the loader of its own suite.

The server-core package and its libraries are unpacked into one folder; no library of the machine is then
loaded, so any suite runs on any Linux that has apt.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acidtest.servers.base import InstallFailedError, Progress, Release, ReleaseGoneError, Unpacked
from acidtest.servers.cache import cache_folder, cache_root, explained, locked
from acidtest.servers.sources.apt import PrivateApt, unpack
from acidtest.servers.sources.apt_sources import debian_mirrors
from acidtest.servers.sources.tools import lacking

PROGRAMS = ("apt-get", "apt-cache", "apt-config", "dpkg-deb")


@dataclass(frozen=True, slots=True)
class Offer:
    """A server package of a suite and the series it held when this was written."""

    dbms: str
    series: str
    suite: str
    server: str
    client: str
    size_bytes: int


OFFERS = (
    Offer("mariadb", "10.5", "bullseye", "mariadb-server-core-10.5", "mariadb-client-core-10.5", 17_000_000),
    Offer("mariadb", "10.11", "bookworm", "mariadb-server-core", "mariadb-client-core", 17_000_000),
    Offer("mariadb", "11.8", "trixie", "mariadb-server-core", "mariadb-client-core", 17_000_000),
    Offer("mariadb", "11.8", "sid", "mariadb-server-core", "mariadb-client-core", 17_000_000),
    Offer("mysql", "9.7", "sid", "mysql-server-core", "mysql-client-core", 50_000_000),
)

LIBRARY_SUITE = "bookworm"
"""For single libraries that run with the machine's own C library: old enough for most machines."""


class Debian:
    """The suites of Debian, through the mirrors that the machine's own apt trusts."""

    name = "debian"

    def __init__(self, etc: Path = Path("/etc/apt")) -> None:
        self._etc = etc

    def lacks(self) -> str:
        if lack := lacking(PROGRAMS, "they come with Debian and its relatives"):
            return lack
        if not self._has_mirror():
            return f"no Debian mirror is named in {self._etc}; add one to apt's sources"
        return ""

    def _has_mirror(self) -> bool:
        return any(not mirror.security for mirror in debian_mirrors(self._etc))

    def releases(self) -> Sequence[Release]:
        return [release for offer in OFFERS for release in self._known(offer)]

    def refresh(self, progress: Progress) -> None:
        suites = sorted({offer.suite for offer in OFFERS})
        failures = []
        for position, suite in enumerate(suites):
            progress(f"reading the index of Debian {suite}", position, len(suites))
            try:
                self._updated(suite)
            except InstallFailedError as failure:  # a mirror need not carry every suite
                failures.append(str(failure))
        if failures:
            raise InstallFailedError("; ".join(failures))

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        offer = next(o for o in OFFERS if (o.suite, o.server) == (release.origin, release.package))
        progress(f"reading the index of Debian {offer.suite}", 0, None)
        with locked(f"apt-{offer.suite}"):
            apt = self._updated(offer.suite)
            number = self._choose(apt, offer, release.version)
            packages = apt.library_closure([f"{offer.server}={number}", f"{offer.client}={number}"])
            done = 0

            def count() -> None:
                nonlocal done
                done += 1
                progress(
                    f"downloading {len(packages)} packages from Debian {offer.suite}", done, len(packages)
                )

            archives = apt.download(packages, folder, count)
        for position, archive in enumerate(archives):
            progress("unpacking", position, len(archives))
            unpack([archive], folder)
        return _layout(folder)

    def fetch_library(self, package: str, folder: Path, progress: Progress) -> list[str]:
        """Unpack a single library for a server from elsewhere; its folders, relative to the folder above."""
        progress(f"fetching {package} from Debian {LIBRARY_SUITE}", 0, None)
        folder.mkdir()
        with locked(f"apt-{LIBRARY_SUITE}"):
            unpack(self._updated(LIBRARY_SUITE).download([package], folder, lambda: None), folder)
        return [str(path.relative_to(folder.parent)) for path in folder.rglob("*-linux-gnu") if path.is_dir()]

    def _updated(self, suite: str) -> PrivateApt:
        if not self._has_mirror():
            raise InstallFailedError(
                f"no Debian mirror is named in {self._etc}, so Debian {suite} cannot be reached;"
                " add one to apt's sources"
            )
        apt = PrivateApt(suite, cache_folder("apt", suite), debian_mirrors(self._etc))
        with explained():
            apt.update()
            versions = {offer.server: apt.versions(offer.server) for offer in OFFERS if offer.suite == suite}
            _index_file(suite).write_text(json.dumps(versions))
        return apt

    def _known(self, offer: Offer) -> Iterable[Release]:
        """The exact versions of the last index read, else the series of the table."""
        file = _index_file(offer.suite)
        try:
            numbers = [number for number, _ in json.loads(file.read_text())[offer.server]]
        except (FileNotFoundError, NotADirectoryError):
            numbers = []
        for version in [upstream_version(number) for number in numbers] or [offer.series]:
            yield Release(offer.dbms, version, self.name, offer.server, offer.suite, offer.size_bytes)

    def _choose(self, apt: PrivateApt, offer: Offer, wanted: str) -> str:
        """Debian's number for the wanted version; the newest if only a series was named."""
        numbers = [number for number, _ in apt.versions(offer.server)]
        for number in numbers:
            version = upstream_version(number)
            if version == wanted or version.startswith(f"{wanted}."):
                return number
        has = ", ".join(upstream_version(number) for number in numbers)
        raise ReleaseGoneError(f"Debian {offer.suite} has no {offer.dbms} {wanted} any more; it has: {has}")


def upstream_version(number: str) -> str:
    """The DBMS's own version in a Debian version: `1:11.8.9+ds-4` is 11.8.9."""
    match = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", number)
    return match[1] if match else number


def _index_file(suite: str) -> Path:
    return cache_root() / "apt" / f"{suite}.json"


def _layout(folder: Path) -> Unpacked:
    """Where the loader and the libraries of the unpacked suite are; newer suites have both below usr."""
    # the loader's name may be a link; that in lib64 leads out of the folder and is of no use
    names = [file for file in folder.rglob("ld-linux-*.so.*") if file.parent.name != "lib64"]
    loaders = [file for file in names if file.resolve().is_relative_to(folder.resolve()) and file.is_file()]
    if not loaders:
        raise InstallFailedError("the packages hold no dynamic loader, so the server cannot be run")
    triplet = loaders[0].parent.name
    libraries = [part for part in (f"lib/{triplet}", f"usr/lib/{triplet}") if (folder / part).is_dir()]
    return Unpacked("", str(loaders[0].relative_to(folder)), tuple(libraries))
