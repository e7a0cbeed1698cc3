"""Cells that were observed before, kept by content: the case, the build of the server, and our own code.

A cell is found again only if nothing changed that could change it, so a second matrix costs seconds and an
interrupted one goes on where it was.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from acidtest import codec, servers
from acidtest.bugs.cells import Cell, Found
from acidtest.casefile import print_case
from acidtest.model import Case, Level
from acidtest.servers.cache import cache_folder
from acidtest.targets.resolve import DBMSS, dbms_of, embedded_version

_FOLDER = "matrix"
_PACKAGES = ("model", "sql", "casefile", "servers", "targets", "execute", "corpus", "bugs", "simulated")
"""What runs a case and says what came of it."""


class CellCache:
    """Cells of one target. A server at an address may be another one tomorrow, so it has none."""

    def __init__(self, spec: str) -> None:
        self._build = build_of(spec)
        self._spec = spec

    def get(self, case: Case, level: Level | None) -> Cell | None:
        """The cell, if it was observed; one that cannot be read is observed again."""
        if self._build is None:
            return None
        try:
            found = codec.decode(json.loads(self._path(case, level).read_text("utf-8")), Cell)
        except (OSError, ValueError):
            return None
        return found if found.target == self._spec else None

    def put(self, case: Case, level: Level | None, cell: Cell) -> None:
        """Keep a cell. What is unknown may be known the next time."""
        if self._build is None or cell.found is Found.UNKNOWN:
            return
        path = self._path(case, level)
        draft = path.with_suffix(f".{id(cell)}")
        draft.write_text(json.dumps(codec.encode(cell)), "utf-8")
        draft.replace(path)  # whole, or not at all

    def _path(self, case: Case, level: Level | None) -> Path:
        at = "as written" if level is None else level.short
        content = "\0".join((print_case(case), at, self._spec, self._build or "", code_digest()))
        return cache_folder(_FOLDER) / f"{hashlib.sha256(content.encode()).hexdigest()}.json"


def build_of(spec: str) -> str | None:
    """What tells this build of a server from every other; None if nobody can say."""
    if "://" in spec:
        return None
    plain = spec.partition("?")[0]
    if DBMSS[dbms_of(spec)].port is None:
        return f"{plain} {embedded_version(spec)}"
    installation = servers.require(plain)
    status = installation.path("server").stat()
    return f"{installation.spec} {installation.source} {status.st_size} {status.st_mtime_ns}"


@cache
def code_digest() -> str:
    """A digest of the code that runs and judges a case."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    root = Path(str(resources.files("acidtest")))
    for package in _PACKAGES:
        yield from sorted((root / package).rglob("*.py"))
