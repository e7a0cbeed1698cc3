"""The campaign's memory: a SQLite file, written as things happen, so that a kill loses nothing.

Positions and statistics of a chunk change in one transaction; a violation is known by its case, so that one
which is examined again after a kill is not counted twice.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from math import isfinite
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from acidtest import __version__
from acidtest.campaign.plan import CHUNK_CASES, Cell, Chunk, Settings, cells_of
from acidtest.campaign.statistics import Statistics
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.report.folder import DATA

FILE, LOCK, FINDINGS = "campaign.sqlite", "campaign.lock", "findings"
_FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", LOCK)
FORMAT, FIRST_FORMAT = "acidtest-campaign/2", "acidtest-campaign/1"

_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chunks (target TEXT, levels TEXT, number INT, size INT, position INT, statistics TEXT, "
    "PRIMARY KEY (target, levels, number))",
    "CREATE TABLE versions (target TEXT PRIMARY KEY, version TEXT)",
    "CREATE TABLE findings (number INTEGER PRIMARY KEY, target TEXT, digest TEXT, seconds REAL, folder TEXT, "
    "UNIQUE (target, digest))",
    "CREATE TABLE violations (case_id TEXT PRIMARY KEY, target TEXT, signature TEXT, became TEXT, "
    "seconds REAL, level TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '')",
    "CREATE TABLE samples (number INT, digest TEXT, signature TEXT, case_id TEXT PRIMARY KEY, text TEXT)",
)
_SINCE_FIRST = (
    "ALTER TABLE violations ADD COLUMN level TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE violations ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE samples (number INT, digest TEXT, signature TEXT, case_id TEXT PRIMARY KEY, text TEXT)",
)
"""What makes a campaign of the first format one of this."""
_THIS_CHUNK = "WHERE target = ? AND levels = ? AND number = ?"


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation that was seen; `became` is `finding`, `duplicate`, `sighting`, `unconfirmed` or
    `unreduced`, `digest` that of its finding, if that is sure."""

    case: str
    target: str
    signature: str
    became: str
    level: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A case of a class of duplicates: its finding by number, the signature before reduction, the case."""

    number: int
    digest: str
    signature: str
    case: str
    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A finding that has been written to its folder."""

    number: int
    target: str
    digest: str
    seconds: float
    folder: str


class Store:
    """One campaign directory, held by one process."""

    def __init__(self, folder: Path, lock: FileLock, database: sqlite3.Connection) -> None:
        self.folder = folder
        self._lock = lock
        self._database = database

    @classmethod
    def create(cls, folder: Path, settings: Settings) -> Self:
        """A new campaign in a directory that does not exist yet, is empty, or was left half-made by a kill.
        What was made of it is removed if anything fails."""
        with _told_in_one_sentence(folder):
            if not _may_be_new(folder):
                raise _taken(folder)
            missing = [one for one in (folder, *folder.parents) if not one.exists()]
            was_empty = bool(missing) or not any(folder.iterdir())
            try:
                folder.mkdir(parents=True, exist_ok=True)
                return cls._begin(folder, settings)
            except BaseException:
                if was_empty:
                    _empty(folder, missing)
                raise

    @classmethod
    def _begin(cls, folder: Path, settings: Settings) -> Self:
        store = cls._open(folder)
        try:
            if store._has_tables():
                raise _taken(folder)
            (folder / FINDINGS).mkdir(exist_ok=True)
            store._make_tables(settings)
        except BaseException:
            store.close()
            raise
        return store

    def _has_tables(self) -> bool:
        (number,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return bool(number)

    def _make_tables(self, settings: Settings) -> None:
        """All at once: a database without tables is one that a kill kept from being made."""
        about = {"format": FORMAT, "settings": json.dumps(settings.to_json()), "acidtest": __version__}
        self._database.execute("BEGIN")
        for definition in _TABLES:
            self._database.execute(definition)
        self._database.executemany("INSERT INTO about VALUES (?, ?)", [*about.items(), ("elapsed_s", "0")])
        self._database.execute("COMMIT")

    @classmethod
    def resume(cls, folder: Path) -> Self:
        """The campaign that a directory holds."""
        if not (folder / FILE).is_file():
            raise UsageError(f"{folder} is no campaign: it has no {FILE}")
        store = cls._open(folder)
        try:
            store._upgrade()
            store._check()
        except (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            store.close()
            raise UsageError(f"{folder / FILE} is damaged or no campaign of acidtest: {error}") from error
        except UsageError:
            store.close()
            raise
        return store

    def _upgrade(self) -> None:
        """Make a campaign of the first format one of this; refuse any other."""
        stored = self._about("format")
        if stored == FIRST_FORMAT:
            with self._writing() as database:
                for change in _SINCE_FIRST:
                    database.execute(change)
                database.execute("UPDATE about SET value = ? WHERE name = 'format'", (FORMAT,))
        elif stored != FORMAT:
            raise UsageError(f"{self.folder / FILE} was not written by this version of acidtest")

    def _check(self) -> None:
        """Raises an error if something cannot have been written by a campaign."""
        (sound,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise ValueError(sound)
        cells = cells_of(self.settings())
        for chunk in self.chunks():
            if chunk.cell not in cells:
                raise ValueError(f"a chunk of {chunk.cell.target} {chunk.cell.level}, which is not fuzzed")
            if not 0 <= chunk.position <= chunk.size <= CHUNK_CASES:
                raise ValueError("a chunk with a position outside of it")
        if not (isfinite(self.elapsed_s()) and self.elapsed_s() >= 0):
            raise ValueError("the time that it ran is no time")
        self.statistics()
        texts = [*self.versions().items(), *map(astuple, self.violations())]
        texts += [(target, folder) for _, target, folder in self._listed()]
        if not all(isinstance(text, str) for row in texts for text in row):
            raise ValueError("a text is missing")
        if not (self.folder / FINDINGS).is_dir():
            raise ValueError(f"there is no folder {FINDINGS}")

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
            "SELECT case_id, target, signature, became, level, digest FROM violations ORDER BY rowid"
        )
        return [Violation(*row) for row in rows]

    def samples(self) -> list[Sample]:
        """The cases that were kept of each class of duplicates."""
        rows = self._database.execute(
            "SELECT number, digest, signature, case_id, text FROM samples ORDER BY rowid"
        )
        return [Sample(*row) for row in rows]

    def findings(self) -> list[tuple[int, str, Path]]:
        """Numbers, targets and folders of the findings."""
        return [(number, target, self.folder / FINDINGS / name) for number, target, name in self._listed()]

    def _listed(self) -> list[tuple[int, str, str]]:
        return list(self._database.execute("SELECT number, target, folder FROM findings ORDER BY number"))

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
        """A chunk was handed out, perhaps a part of it; one that goes on is known already."""
        row = (chunk.cell.target, chunk.cell.level, chunk.number, CHUNK_CASES)
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
            _set_elapsed(database, elapsed_s)

    def ended(self, elapsed_s: float) -> None:
        """The session of the campaign is over."""
        with self._writing() as database:
            _set_elapsed(database, elapsed_s)

    def next_number(self) -> int:
        """The number of the next finding."""
        (number,) = self._database.execute("SELECT coalesce(max(number), 0) + 1 FROM findings").fetchone()
        return int(number)

    def violated(
        self,
        violation: Violation,
        seconds: float,
        listed: Listed | None = None,
        sample: Sample | None = None,
    ) -> None:
        """A case broke a promise; `listed` is the finding that came of it. One that is told again after a
        kill is known already."""
        with self._writing() as database:
            case, target, signature, became, level, digest = astuple(violation)
            row = (case, target, signature, became, seconds, level, digest)
            database.execute("INSERT OR REPLACE INTO violations VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            if sample is not None:
                database.execute("INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)", astuple(sample))
            if listed is not None:
                database.execute("INSERT INTO findings VALUES (?, ?, ?, ?, ?)", astuple(listed))


Sightings = Mapping[str, Mapping[tuple[str, str], int]]
"""Of each finding, by its digest: how many violations were seen, by target and level."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a campaign keeps of its findings besides their folders."""

    sightings: Sightings
    samples: tuple[Sample, ...]


def recorded(folder: Path) -> Recorded:
    """What the campaign in a directory has recorded so far; nothing if there is none, or an older one. It may
    be at work."""
    file = folder / FILE
    if not file.is_file():
        return Recorded({}, ())
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
            sightings: dict[str, dict[tuple[str, str], int]] = {}
            rows = database.execute(
                "SELECT digest, target, level, count(*) FROM violations WHERE digest <> '' "
                "GROUP BY digest, target, level ORDER BY digest, target, level"
            )
            for digest, target, level, number in rows:
                sightings.setdefault(digest, {})[target, level] = number
            kept = database.execute(
                "SELECT number, digest, signature, case_id, text FROM samples ORDER BY rowid"
            )
            return Recorded(sightings, tuple(Sample(*row) for row in kept))
    except sqlite3.Error:
        return Recorded({}, ())  # an older version's; its findings can be read all the same


def _set_elapsed(database: sqlite3.Connection, seconds: float) -> None:
    database.execute("UPDATE about SET value = ? WHERE name = 'elapsed_s'", (str(seconds),))


def _may_be_new(folder: Path) -> bool:
    """Whether nothing is in a directory but what the beginning of a campaign leaves when it is killed."""
    if not folder.exists():
        return True
    try:
        names = {one.name for one in folder.iterdir()}
        return names <= {*_FILES, FINDINGS} and not (FINDINGS in names and any((folder / FINDINGS).iterdir()))
    except OSError:
        return False  # no directory, or none that we may read


def _empty(folder: Path, made: Iterable[Path]) -> None:
    """Remove what the beginning of a campaign makes in its directory, and the directories that were made for
    it, the innermost first."""
    with suppress(OSError):
        if (folder / FINDINGS).is_dir():
            (folder / FINDINGS).rmdir()
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        for one in made:
            one.rmdir()


def _taken(folder: Path) -> UsageError:
    return UsageError(f"{folder} exists already; choose another --out, or go on with it: --resume {folder}")


@contextmanager
def _told_in_one_sentence(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    except sqlite3.Error as error:
        raise UsageError(f"cannot write to {folder}: {error}") from error
