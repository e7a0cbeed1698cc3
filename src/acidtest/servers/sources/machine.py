"""Servers that are already on the machine: found in their usual places, used there, never changed."""

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from acidtest.servers.base import Flavour, Installation, InstallFailedError
from acidtest.servers.cache import cache_root
from acidtest.servers.flavours import FLAVOURS
from acidtest.servers.store import ask_version

NAME = "machine"
PROGRAMS = ("mysqld", "mariadbd", "postgres", "tidb-server")
PLACES = (
    "/usr/sbin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/*/bin",
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/*/bin",
)


def on_machine() -> list[Installation]:
    """Every server found, each once, whatever links lead to it."""
    return list(_search(os.environ.get("PATH", "")))


@cache
def _search(search_path: str) -> tuple[Installation, ...]:
    folders = [Path(entry) for entry in search_path.split(":") if entry]
    for pattern in PLACES:
        folders += sorted(Path("/").glob(pattern.lstrip("/")))
    programs = {(folder / name).resolve() for folder in folders for name in PROGRAMS if _runs(folder / name)}
    return tuple(found for program in sorted(programs) for found in _installations(program))


def _runs(program: Path) -> bool:
    return os.path.isfile(program) and os.access(program, os.X_OK)


def _installations(program: Path) -> Iterator[Installation]:
    """The program as an installation of each flavour whose version it shows: none or one."""
    for flavour in FLAVOURS.values():
        if "server" in (parts := _parts(program, flavour)):
            draft = _installation(flavour.dbms, "0", program, parts)
            try:
                version = ask_version(draft)
            except InstallFailedError:  # a broken program on the machine is not ours to complain about
                continue
            if version is not None:
                yield _installation(flavour.dbms, version, program, parts)


def _parts(program: Path, flavour: Flavour) -> dict[str, str]:
    prefix = program.parent.parent
    parts = dict(flavour.locate(program.parent))
    parts = {name: str(Path(program.parent.name) / path) for name, path in parts.items()}
    for share in ("share/mysql", "share/mariadb", "share"):
        if (prefix / share / "english" / "errmsg.sys").is_file():
            parts |= {"share": share, "charsets": f"{share}/charsets"}
            break
    return {**parts, "server": str(program.relative_to(prefix))} if "server" in parts else {}


def _installation(dbms: str, version: str, program: Path, parts: dict[str, str]) -> Installation:
    mark = hashlib.sha256(str(program).encode()).hexdigest()[:8]
    home = cache_root() / "machine" / f"{dbms}-{version}-{mark}"
    return Installation(dbms, version, NAME, program.parent.parent, home, parts)
