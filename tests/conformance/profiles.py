"""How the DBMSs differ where the suite has to write SQL: data for each, and no branches in the tests."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from acidtest.model import ErrorKind, Level, TransactionState, Undone, Value
from acidtest.targets import Target

Version = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """A column type, a literal for it, and the value that must come back."""

    type: str
    literal: str
    value: Value


@dataclass(frozen=True)
class Provocation:
    """A statement that must fail in a known way; `feature` names what a version needs to have for it."""

    kind: ErrorKind
    sql: str
    feature: str = ""


@dataclass(frozen=True)
class Profile:
    """What the suite needs to know of a DBMS."""

    samples: tuple[Sample, ...]
    provocations: tuple[Provocation, ...]
    level_with_dirty_reads: Level | None = None
    error_undoes: Undone = Undone.STATEMENT
    state_after_error: TransactionState = TransactionState.OPEN
    conflict_kinds: tuple[ErrorKind, ...] = ()
    stale_write: Mapping[Level, ErrorKind] = field(default_factory=dict)
    """Levels at which a write to a row that changed since the snapshot must fail, and how."""
    names_blockers: bool = True
    for_update: str | None = "SELECT * FROM parent WHERE id = 1 FOR UPDATE"
    nowait: str | None = "SELECT * FROM parent WHERE id = 1 FOR UPDATE NOWAIT"
    set_lock_timeout: str | None = "SET innodb_lock_wait_timeout = 1"
    read_only_begin: str | None = "START TRANSACTION READ ONLY"
    savepoints: bool = True
    limits_connections: bool = True
    set_variable: str = "SET @acidtest = 1"
    show_variable: str = "SELECT @acidtest"
    session_id: str | None = "SELECT CONNECTION_ID()"
    kill: str | None = "KILL {}"
    temporary_table: str | None = "CREATE TEMPORARY TABLE mine (id INT)"
    long_statement: str | None = (
        "SELECT COUNT(*) FROM information_schema.collations a, information_schema.collations b,"
        " information_schema.collations c, information_schema.collations d, information_schema.collations e"
    )
    list_databases: str | None = "SELECT schema_name FROM information_schema.schemata"
    hinted: str = "SELECT /*+ NO_INDEX_MERGE(parent) */ id\n  FROM parent -- the key\n WHERE id = 1"
    wide_text: str = "SELECT REPEAT('x', 1000), id FROM parent"
    generated_column: str = "g INT GENERATED ALWAYS AS (id + 1) STORED"
    trigger: tuple[str, ...] = ("CREATE TRIGGER noted BEFORE INSERT ON parent FOR EACH ROW SET NEW.s = 'x'",)
    cascades: bool = True
    since: Mapping[str, Version] = field(default_factory=dict)
    """The version from which on a feature is there; what is not named always is."""

    def has(self, feature: str, target: Target) -> bool:
        """Whether the target's version has the feature."""
        numbers = re.findall(r"\d+", target.version)[:3]
        return tuple(map(int, numbers)) >= self.since.get(feature, ())


SETUP = (
    "CREATE TABLE parent"
    " (id INT PRIMARY KEY, v INT NOT NULL, s VARCHAR(5), small SMALLINT, CHECK (v < 1000))",
    "CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id))",
    "INSERT INTO parent VALUES (1, 10, 'a', 1), (2, 20, 'b', 2), (3, 30, 'c', 3)",
    "INSERT INTO child VALUES (1, 1)",
)
"""Tables that every DBMS takes as they stand."""

EVERYWHERE = (
    Provocation(ErrorKind.DUPLICATE_KEY, "INSERT INTO parent VALUES (1, 1, 'x', 1)"),
    Provocation(ErrorKind.NOT_NULL, "INSERT INTO parent VALUES (9, NULL, 'x', 1)"),
    Provocation(ErrorKind.FOREIGN_KEY, "INSERT INTO child VALUES (9, 99)"),
    Provocation(ErrorKind.FOREIGN_KEY, "DELETE FROM parent WHERE id = 1"),
    Provocation(ErrorKind.CHECK, "INSERT INTO parent VALUES (9, 5000, 'x', 1)", "check"),
    Provocation(ErrorKind.SYNTAX, "SELEC 1"),
    Provocation(ErrorKind.NO_SUCH_OBJECT, "SELECT * FROM nowhere"),
    Provocation(ErrorKind.NO_SUCH_OBJECT, "SELECT no_such_column FROM parent"),
)
STRICT = (
    Provocation(ErrorKind.OUT_OF_RANGE, "INSERT INTO parent VALUES (9, 1, 'x', 70000)", "strict"),
    Provocation(ErrorKind.TRUNCATION, "INSERT INTO parent VALUES (9, 1, 'too long', 1)", "strict"),
)

_DAY, _MOMENT = date(2024, 2, 29), datetime(2024, 2, 29, 13, 14, 15)
COMMON_SAMPLES = (
    Sample("INT", "-7", -7),
    Sample("BIGINT", "9223372036854775807", 9223372036854775807),
    Sample("DECIMAL(10,2)", "12.50", Decimal("12.50")),
    Sample("DATE", "'2024-02-29'", _DAY),
    Sample("VARCHAR(40)", "'it''s'", "it's"),
    Sample("VARCHAR(40)", "''", ""),
    Sample("VARCHAR(40)", "'žluťoučký 数据 🙂'", "žluťoučký 数据 🙂"),
    Sample("VARCHAR(40)", "'two\nlines'", "two\nlines"),
)

POSTGRES = Profile(
    samples=(
        *COMMON_SAMPLES,
        Sample("DOUBLE PRECISION", "0.1", 0.1),
        Sample("REAL", "0.5", 0.5),
        Sample("BOOLEAN", "TRUE", True),
        Sample("BYTEA", r"'\x00ff41'", b"\x00\xff\x41"),
        Sample("TIMESTAMP", "'2024-02-29 13:14:15'", _MOMENT),
        Sample("TIMESTAMP", "'infinity'", "infinity"),
        Sample("TIME", "'13:14:15'", time(13, 14, 15)),
        Sample("INTERVAL", "'1 day 2 hours'", "1 day 02:00:00"),
        Sample("INT[]", "'{1,2}'", "{1,2}"),
        Sample("NUMERIC", "'NaN'", "NaN"),
        Sample("JSONB", "'{\"a\": 1}'", '{"a": 1}'),
    ),
    provocations=(
        *EVERYWHERE,
        *STRICT,
        Provocation(ErrorKind.DIVISION_BY_ZERO, "SELECT 1 / 0"),
        Provocation(ErrorKind.BAD_VALUE, "SELECT CAST('x' AS INT)"),
        Provocation(ErrorKind.OBJECT_EXISTS, "CREATE TABLE parent (id INT)"),
    ),
    error_undoes=Undone.TRANSACTION,
    state_after_error=TransactionState.FAILED,
    stale_write={
        Level.REPEATABLE_READ: ErrorKind.SERIALIZATION_FAILURE,
        Level.SERIALIZABLE: ErrorKind.SERIALIZATION_FAILURE,
    },
    set_lock_timeout="SET lock_timeout = '50ms'",
    trigger=(
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER noted BEFORE INSERT ON parent FOR EACH ROW EXECUTE PROCEDURE note()",
    ),
    since={"generated": (12,)},
    set_variable="SET work_mem = '7MB'",
    show_variable="SHOW work_mem",
    session_id="SELECT pg_backend_pid()",
    kill="SELECT pg_terminate_backend({})",
    long_statement="SELECT pg_sleep(600)",
    list_databases="SELECT datname FROM pg_database",
)

_MYSQL_SAMPLES = (
    *COMMON_SAMPLES,
    Sample("DOUBLE", "0.1", 0.1),
    Sample("BOOLEAN", "TRUE", 1),
    Sample("BLOB", "x'00ff41'", b"\x00\xff\x41"),
    Sample("VARBINARY(10)", "x'00ff41'", b"\x00\xff\x41"),
    Sample("DATETIME", "'2024-02-29 13:14:15'", _MOMENT),
    Sample("TIME", "'13:14:15'", timedelta(hours=13, minutes=14, seconds=15)),
    Sample("BIGINT UNSIGNED", "18446744073709551615", 18446744073709551615),
    Sample("TEXT", "'plain'", "plain"),
)
MYSQL = Profile(
    samples=_MYSQL_SAMPLES,
    provocations=(*EVERYWHERE, *STRICT),
    level_with_dirty_reads=Level.READ_UNCOMMITTED,
    since={
        "check": (8, 0, 16),
        "generated": (5, 7, 6),
        "nowait": (8, 0, 1),
        "strict": (5, 7),
        "read_only_begin": (5, 6, 5),
        "names_blockers": (5, 6, 16),
    },
)
MARIADB = replace(
    MYSQL,
    stale_write={Level.REPEATABLE_READ: ErrorKind.RECORD_CHANGED},
    since={
        "check": (10, 2, 1),
        "check_told": (10, 2, 22),
        "generated": (10, 2, 1),
        "nowait": (10, 3),
        "strict": (10, 2, 4),
        "stale_write": (11, 6, 2),
    },
)
SEEKDB = replace(
    MYSQL,
    level_with_dirty_reads=None,
    limits_connections=False,
    temporary_table=None,
    long_statement="SELECT SLEEP(600)",  # its catalog of collations is too short to keep it busy
    since={},
)
TIDB = replace(
    MYSQL,
    provocations=tuple(
        one
        for one in (*EVERYWHERE, *STRICT)
        if one.kind not in (ErrorKind.FOREIGN_KEY, ErrorKind.CHECK)  # before 6.6 and 7.2; then off by default
    ),
    level_with_dirty_reads=None,
    names_blockers=False,
    read_only_begin=None,
    limits_connections=False,
    kill="KILL TIDB {}",
    long_statement="SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b,"
    " information_schema.columns c",  # a SLEEP that is killed succeeds
    trigger=(),
    since={"savepoints": (6, 2), "foreign_keys": (6, 6), "check": (99,)},  # checks: off by default
)

SQLITE = Profile(
    samples=(
        Sample("INTEGER", "-7", -7),
        Sample("INTEGER", "9223372036854775807", 9223372036854775807),
        Sample("REAL", "0.1", 0.1),
        Sample("TEXT", "'it''s'", "it's"),
        Sample("TEXT", "''", ""),
        Sample("TEXT", "'žluťoučký 数据 🙂'", "žluťoučký 数据 🙂"),
        Sample("TEXT", "'two\nlines'", "two\nlines"),
        Sample("BLOB", "x'00ff41'", b"\x00\xff\x41"),
        Sample("BOOLEAN", "TRUE", 1),
    ),
    provocations=(*EVERYWHERE, Provocation(ErrorKind.OBJECT_EXISTS, "CREATE TABLE parent (id INT)")),
    conflict_kinds=(ErrorKind.LOCK_NOT_AVAILABLE,),
    stale_write={Level.SERIALIZABLE: ErrorKind.SERIALIZATION_FAILURE},
    set_lock_timeout=None,
    for_update=None,
    nowait=None,
    read_only_begin=None,
    set_variable="PRAGMA cache_size = 77",
    show_variable="PRAGMA cache_size",
    session_id=None,
    kill=None,
    limits_connections=False,
    long_statement=None,
    list_databases=None,
    trigger=("CREATE TRIGGER noted AFTER INSERT ON parent BEGIN SELECT 1; END",),
    wide_text="SELECT hex(zeroblob(500)), id FROM parent",
)

DUCKDB = Profile(
    samples=(
        *COMMON_SAMPLES,
        Sample("DOUBLE", "0.1", 0.1),
        Sample("DOUBLE", "'NaN'", "NaN"),
        Sample("HUGEINT", "170141183460469231731687303715884105727", 2**127 - 1),
        Sample("BOOLEAN", "TRUE", True),
        Sample("BLOB", r"'\x00\xffA'::BLOB", b"\x00\xff\x41"),
        Sample("TIMESTAMP", "'2024-02-29 13:14:15'", _MOMENT),
        Sample("TIME", "'13:14:15'", time(13, 14, 15)),
        Sample("INTERVAL", "'1 day'", timedelta(days=1)),
        Sample("INT[]", "[1, 2]", "[1, 2]"),
    ),
    provocations=(
        *EVERYWHERE,
        Provocation(ErrorKind.OUT_OF_RANGE, "INSERT INTO parent VALUES (9, 1, 'x', 70000)"),
        Provocation(ErrorKind.BAD_VALUE, "SELECT CAST('x' AS INT)"),
        Provocation(ErrorKind.OBJECT_EXISTS, "CREATE TABLE parent (id INT)"),
    ),
    error_undoes=Undone.TRANSACTION,
    state_after_error=TransactionState.FAILED,
    conflict_kinds=(ErrorKind.WRITE_CONFLICT,),
    stale_write={Level.SNAPSHOT: ErrorKind.WRITE_CONFLICT},
    set_lock_timeout=None,
    for_update=None,
    nowait=None,
    read_only_begin="BEGIN TRANSACTION READ ONLY",
    savepoints=False,
    set_variable="SET VARIABLE acidtest = 1",
    show_variable="SELECT getvariable('acidtest')",
    session_id=None,
    kill=None,
    limits_connections=False,
    long_statement=None,
    list_databases=None,
    generated_column="g INT GENERATED ALWAYS AS (id + 1)",
    trigger=(),
    cascades=False,
)

PROFILES = {
    "postgres": POSTGRES,
    "mysql": MYSQL,
    "mariadb": MARIADB,
    "seekdb": SEEKDB,
    "tidb": TIDB,
    "sqlite": SQLITE,
    "duckdb": DUCKDB,
}
