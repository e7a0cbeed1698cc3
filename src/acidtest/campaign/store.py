"""The campaign's memory: a SQLite file, written as things happen, so that a kill loses nothing.

Positions and statistics of a chunk change in one transaction; a violation is known by its case, so that one
which is examined again after a kill is not counted twice.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from acidtest import __version__
from acidtest.campaign.plan import Cell, Chunk, Settings
from acidtest.campaign.statistics import Statistics
from acidtest.errors import UsageError
from acidtest.findings.folder import DATA
from acidtest.model import Level

FILE, LOCK, FINDINGS = "campaign.sqlite", "campaign.lock", "findings"
FORMAT = "acidtest-campaign/1"

_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chunks (target TEXT, levels TEXT, number INT, size INT, position INT, statistics TEXT, "
    "PRIMARY KEY (target, levels, number))",
    "CREATE TABLE versions (target TEXT PRIMARY KEY, version TEXT)",
    "CREATE TABLE findings (number INTEGER PRIMARY KEY, target TEXT, digest TEXT, seconds REAL, folder TEXT, "
    "UNIQUE (target, digest))",
    "CREATE TABLE violations (case_id TEXT PRIMARY KEY, target TEXT, signature TEXT, became TEXT, "
    "seconds REAL)",
)
_THIS_CHUNK = "WHERE target = ? AND levels = ? AND number = ?"


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation that was seen; `became` is `finding`, `duplicate` or `unreduced`."""

    case: str
    target: str
    signature: str
    became: str


class Store:
    """One campaign directory, held by one process."""

    def __init__(self, folder: Path, lock: FileLock, database: sqlite3.Connection) -> None:
        self.folder = folder
        self._lock = lock
        self._database = database

    @classmethod
    def create(cls, folder: Path, settings: Settings) -> Self:
        """A new campaign in a directory that does not exist yet, or is empty."""
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise UsageError(
                    f"{folder} exists already; choose another --out, or go on with it: --resume {folder}"
                )
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FINDINGS).mkdir()
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
        store = cls._open(folder)
        with store._writing() as database:
            for definition in _TABLES:
                database.execute(definition)
            about = {"format": FORMAT, "settings": json.dumps(settings.to_json()), "acidtest": __version__}
            database.executemany("INSERT INTO about VALUES (?, ?)", [*about.items(), ("elapsed_s", "0")])
        return store

    @classmethod
    def resume(cls, folder: Path) -> Self:
        """The campaign that a directory holds."""
        if not (folder / FILE).is_file():
            raise UsageError(f"{folder} is no campaign: it has no {FILE}")
        store = cls._open(folder)
        try:
            if store._about("format") != FORMAT:
                raise UsageError(f"{folder / FILE} was not written by this version of acidtest")
            store.settings(), store.statistics(), store.versions(), store.elapsed_s()
            store.violations(), store.findings()
            if any(not 0 <= chunk.position <= chunk.size for chunk in store.chunks()):
                raise ValueError("a chunk with a position outside of it")
            if not (folder / FINDINGS).is_dir():
                raise ValueError(f"there is no folder {FINDINGS}")
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
            store.close()
            raise UsageError(f"{folder / FILE} is damaged or no campaign of acidtest: {error}") from error
        except UsageError:
            store.close()
            raise
        return store

    @classmethod
    def _open(cls, folder: Path) -> Self:
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise UsageError(f"another acidtest is at work in {folder}") from error
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
        try:
            database = sqlite3.connect(folder / FILE, isolation_level=None)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")  # a kill loses nothing; only a power cut may
        except sqlite3.Error as error:
            lock.release()
            raise UsageError(f"cannot open {folder / FILE}: {error}") from error
        return cls(folder, lock, database)

    def close(self) -> None:
        """Let go of the directory."""
        self._database.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- reading

    def settings(self) -> Settings:
        """What the campaign was asked for."""
        return Settings.from_json(json.loads(self._about("settings")))

    def elapsed_s(self) -> float:
        """How long it has run so far."""
        return float(self._about("elapsed_s"))

    def chunks(self) -> list[Chunk]:
        """All chunks that were begun, with their positions."""
        rows = self._database.execute("SELECT target, levels, number, size, position FROM chunks")
        return [
            Chunk(Cell(target, tuple(map(Level.parse, levels.split("+")))), number, size, position)
            for target, levels, number, size, position in rows
        ]

    def statistics(self) -> Statistics:
        """The sums over all chunks."""
        total = Statistics()
        for (text,) in self._database.execute("SELECT statistics FROM chunks"):
            total.add(Statistics.from_json(json.loads(text)))
        return total

    def versions(self) -> dict[str, str]:
        """What the servers said of themselves."""
        return dict(self._database.execute("SELECT target, version FROM versions"))

    def violations(self) -> list[Violation]:
        """Every violation, in the order they were seen."""
        rows = self._database.execute(
            "SELECT case_id, target, signature, became FROM violations ORDER BY rowid"
        )
        return [Violation(*row) for row in rows]

    def findings(self) -> list[tuple[int, str, Path]]:
        """Numbers, targets and folders of the findings."""
        rows = self._database.execute("SELECT number, target, folder FROM findings ORDER BY number")
        return [(number, target, self.folder / FINDINGS / folder) for number, target, folder in rows]

    def sweep(self) -> None:
        """Remove the folder of a finding that a kill kept from being listed; its case comes up again."""
        unlisted = f"{self.next_number():03d}-*"
        for folder in (self.folder / FINDINGS).glob(unlisted):
            if (folder / DATA).is_file():
                shutil.rmtree(folder)

    def _about(self, name: str) -> str:
        row = self._database.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise KeyError(name)
        return str(row[0])

    # -- writing

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._database.execute("BEGIN")
            yield self._database
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise UsageError(
                f"cannot write to {self.folder / FILE}: {error}; what was stored before is safe, "
                f"go on with --resume {self.folder}"
            ) from error

    def change_limits(self, settings: Settings) -> None:
        """A resumed campaign got another limit."""
        with self._writing() as database:
            text = json.dumps(settings.to_json())
            database.execute("UPDATE about SET value = ? WHERE name = 'settings'", (text,))

    def opened(self, target: str, version: str) -> None:
        """A server said its version."""
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", (target, version))

    def began(self, chunk: Chunk) -> None:
        """A chunk was handed out; one that goes on is known already."""
        row = (chunk.cell.target, chunk.cell.level, chunk.number, chunk.size)
        empty = json.dumps(Statistics().to_json())
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, 0, ?)", (*row, empty))

    def advanced(self, chunk: Chunk, position: int, statistics: Statistics, elapsed_s: float) -> None:
        """Cases of a chunk have been examined."""
        key = (chunk.cell.target, chunk.cell.level, chunk.number)
        with self._writing() as database:
            (text,) = database.execute(f"SELECT statistics FROM chunks {_THIS_CHUNK}", key).fetchone()
            total = Statistics.from_json(json.loads(text))
            total.add(statistics)
            database.execute(
                f"UPDATE chunks SET position = ?, statistics = ? {_THIS_CHUNK}",
                (position, json.dumps(total.to_json()), *key),
            )
            database.execute("UPDATE about SET value = ? WHERE name = 'elapsed_s'", (str(elapsed_s),))

    def next_number(self) -> int:
        """The number of the next finding."""
        (number,) = self._database.execute("SELECT coalesce(max(number), 0) + 1 FROM findings").fetchone()
        return int(number)

    def found(self, number: int, target: str, digest: str, seconds: float, folder: str) -> None:
        """A finding has been written to its folder."""
        with self._writing() as database:
            row = (number, target, digest, seconds, folder)
            database.execute("INSERT INTO findings VALUES (?, ?, ?, ?, ?)", row)

    def violated(self, violation: Violation, seconds: float) -> None:
        """A case broke a promise; one that is told again after a kill is known already."""
        with self._writing() as database:
            row = (violation.case, violation.target, violation.signature, violation.became, seconds)
            database.execute("INSERT OR REPLACE INTO violations VALUES (?, ?, ?, ?, ?)", row)
