"""What each DBMS takes: column types, statements and the spelling of locks. Data, one entry per DBMS."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from sqlglot import Dialect, exp
from sqlglot.generator import Generator

from acidtest.errors import UsageError


class Family(StrEnum):
    """Types whose values mix freely in expressions."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    TEXT = "text"
    DATE = "date"


class Can(StrEnum):
    """What not every DBMS can do."""

    LOCK_ROWS = "SELECT .. FOR UPDATE and FOR SHARE"
    NOWAIT = "NOWAIT"
    SKIP_LOCKED = "SKIP LOCKED"
    NUMBERS_AS_TRUTH = "WHERE number"
    WINDOWS = "window functions and common table expressions"
    RIGHT_JOIN = "RIGHT JOIN"
    INTERSECT = "INTERSECT and EXCEPT"
    PREFIX_INDEX = "an index on the first characters of a column"
    LIMITED_WRITE = "UPDATE and DELETE with ORDER BY and LIMIT"
    REPLACE = "REPLACE"
    INSERT_IGNORE = "INSERT IGNORE"
    DUPLICATE_KEY_UPDATE = "ON DUPLICATE KEY UPDATE"
    ON_CONFLICT = "ON CONFLICT"
    JOINED_UPDATE = "UPDATE t JOIN u"
    UPDATE_FROM = "UPDATE t SET .. FROM u"
    READ_OWN_TARGET = "a subquery that reads the table which the statement writes"
    SAVEPOINT = "SAVEPOINT"
    CONSISTENT_SNAPSHOT = "START TRANSACTION WITH CONSISTENT SNAPSHOT"
    FOREIGN_KEY = "FOREIGN KEY"
    GENERATED = "GENERATED ALWAYS AS"
    DEFAULT_VALUE = "DEFAULT in the place of a value"
    CONCAT_OPERATOR = "a || b"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column type: `declared` in CREATE TABLE, `spelled` as the catalog gives it back."""

    family: Family
    declared: str
    spelled: str
    weight: float
    low: int = -(1 << 31)
    high: int = (1 << 31) - 1
    length: int = 10
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class Flavour:
    """SQL as one DBMS speaks it. `semantics`: the evaluator's dialect that comes nearest."""

    dbms: str
    grammar: str
    semantics: str
    types: tuple[ColumnType, ...]
    abilities: frozenset[Can]
    share: str = "FOR SHARE"
    """How a SELECT asks for shared locks."""

    def can(self, ability: Can) -> bool:
        """Whether the DBMS takes it."""
        return ability in self.abilities

    def ordered(self, node: exp.Expression, descending: bool) -> exp.Ordered:
        """An item of ORDER BY that leaves NULLs where the DBMS puts them."""
        placing = Dialect.get_or_raise(self.grammar).NULL_ORDERING
        first = {"nulls_are_small": not descending, "nulls_are_large": descending}.get(placing, False)
        return exp.Ordered(this=node, desc=descending, nulls_first=first)

    def renderer(self) -> "Renderer":
        """Writes trees as text."""
        return Renderer(self)


class Renderer:
    """Trees to text; keeps one generator of sqlglot, which costs more to make than to use."""

    def __init__(self, flavour: Flavour) -> None:
        self._share = flavour.share
        self._generator: Generator = Dialect.get_or_raise(flavour.grammar).generator()

    def text(self, tree: exp.Expression) -> str:
        """One statement, without its semicolon. The tree stays as it is."""
        if isinstance(tree, exp.Command):
            return f"{tree.this} {tree.expression}".strip()
        locks = tree.args.get("locks")
        if not locks:
            return self._write(tree)
        # sqlglot knows one spelling per lock; MariaDB and MySQL 5 have another one for shared locks.
        tree.set("locks", None)
        text = self._write(tree)
        tree.set("locks", locks)
        return f"{text} {self._lock(locks[0])}"

    def _write(self, tree: exp.Expression) -> str:
        text: str = self._generator.generate(tree, copy=False)
        if isinstance(tree, exp.Insert) and tree.meta.get("replaces"):
            return text.replace("INSERT", "REPLACE", 1)
        return text

    def _lock(self, lock: exp.Lock) -> str:
        wait = {None: "", True: " NOWAIT", False: " SKIP LOCKED"}[lock.args.get("wait")]
        return ("FOR UPDATE" if lock.args.get("update") else self._share) + wait


def _mysql_types(collation: str) -> tuple[ColumnType, ...]:
    text = f"CHARACTER SET utf8mb4 COLLATE {collation}"
    integer, decimal = Family.INTEGER, Family.DECIMAL
    return (
        ColumnType(integer, "INT", "int", 8),
        ColumnType(integer, "BIGINT", "bigint", 1, -(1 << 63), (1 << 63) - 1),
        ColumnType(integer, "BIGINT UNSIGNED", "bigint unsigned", 0.5, 0, (1 << 64) - 1),
        ColumnType(decimal, "DECIMAL(10,2)", "decimal(10,2)", 1),
        ColumnType(Family.DOUBLE, "DOUBLE", "double", 0.6),
        ColumnType(Family.TEXT, f"VARCHAR(20) {text}", "varchar(20)", 2, length=20, collation=collation),
        ColumnType(Family.DATE, "DATE", "date", 0.7),
    )


_POSTGRES_TYPES = (
    ColumnType(Family.INTEGER, "INT", "integer", 8),
    ColumnType(Family.INTEGER, "BIGINT", "bigint", 1, -(1 << 63), (1 << 63) - 1),
    ColumnType(Family.DECIMAL, "NUMERIC(10,2)", "numeric(10,2)", 1),
    ColumnType(Family.DOUBLE, "DOUBLE PRECISION", "double precision", 0.6),
    ColumnType(Family.TEXT, "VARCHAR(20)", "character varying(20)", 2, length=20),
    ColumnType(Family.DATE, "DATE", "date", 0.7),
)
_SQLITE_TYPES = (
    ColumnType(Family.INTEGER, "INT", "integer", 8),
    ColumnType(Family.INTEGER, "BIGINT", "bigint", 1, -(1 << 63), (1 << 63) - 1),
    ColumnType(Family.DOUBLE, "DOUBLE", "double precision", 1),
    ColumnType(Family.TEXT, "VARCHAR(20)", "character varying(20)", 2, length=20),
)

_MYSQL_FAMILY = frozenset(
    {
        Can.LOCK_ROWS,
        Can.NUMBERS_AS_TRUTH,
        Can.RIGHT_JOIN,
        Can.PREFIX_INDEX,
        Can.LIMITED_WRITE,
        Can.REPLACE,
        Can.INSERT_IGNORE,
        Can.DUPLICATE_KEY_UPDATE,
        Can.JOINED_UPDATE,
        Can.SAVEPOINT,
        Can.CONSISTENT_SNAPSHOT,
        Can.FOREIGN_KEY,
        Can.DEFAULT_VALUE,
    }
)
_SINCE_MYSQL_8 = frozenset({Can.NOWAIT, Can.SKIP_LOCKED, Can.WINDOWS, Can.GENERATED, Can.INTERSECT})
_MARIADB = Flavour(
    "mariadb",
    "mysql",
    "mariadb",
    _mysql_types("utf8mb4_general_ci"),
    _MYSQL_FAMILY | _SINCE_MYSQL_8 | {Can.READ_OWN_TARGET},
    share="LOCK IN SHARE MODE",
)
_MYSQL = Flavour(
    "mysql", "mysql", "mysql", _mysql_types("utf8mb4_general_ci"), _MYSQL_FAMILY | _SINCE_MYSQL_8
)
_POSTGRES = Flavour(
    "postgres",
    "postgres",
    "postgres",
    _POSTGRES_TYPES,
    frozenset(
        {
            Can.LOCK_ROWS,
            Can.NOWAIT,
            Can.SKIP_LOCKED,
            Can.WINDOWS,
            Can.RIGHT_JOIN,
            Can.INTERSECT,
            Can.ON_CONFLICT,
            Can.UPDATE_FROM,
            Can.READ_OWN_TARGET,
            Can.SAVEPOINT,
            Can.FOREIGN_KEY,
            Can.GENERATED,
            Can.DEFAULT_VALUE,
            Can.CONCAT_OPERATOR,
        }
    ),
)
_EMBEDDED = frozenset(
    {
        Can.WINDOWS,
        Can.RIGHT_JOIN,
        Can.INTERSECT,
        Can.ON_CONFLICT,
        Can.UPDATE_FROM,
        Can.READ_OWN_TARGET,
        Can.CONCAT_OPERATOR,
    }
)
_SQLITE = Flavour(
    "sqlite",
    "sqlite",
    "postgres",
    _SQLITE_TYPES,
    _EMBEDDED | {Can.NUMBERS_AS_TRUTH, Can.SAVEPOINT, Can.REPLACE, Can.GENERATED},
)
_DUCKDB = Flavour("duckdb", "duckdb", "postgres", _POSTGRES_TYPES, _EMBEDDED | {Can.DEFAULT_VALUE})
_SEEKDB = replace(
    _MYSQL,
    dbms="seekdb",
    abilities=_MYSQL.abilities - {Can.CONSISTENT_SNAPSHOT, Can.INTERSECT, Can.FOREIGN_KEY, Can.GENERATED},
    share="LOCK IN SHARE MODE",
)
_TIDB = replace(
    _MYSQL,
    dbms="tidb",
    types=_mysql_types("utf8mb4_bin"),  # before 6.0 every collation compares bytes
    abilities=_MYSQL.abilities - {Can.SKIP_LOCKED, Can.FOREIGN_KEY},
    share="FOR UPDATE",  # it has no shared locks
)

# Our own engine with planted faults speaks MariaDB's SQL, as far as it goes.
_SIMULATED = replace(_MARIADB, dbms="simulated", abilities=frozenset({Can.LOCK_ROWS}))

FLAVOURS: Mapping[str, Flavour] = {
    flavour.dbms: flavour
    for flavour in (_MARIADB, _MYSQL, _POSTGRES, _SQLITE, _DUCKDB, _SEEKDB, _TIDB, _SIMULATED)
}

_MISSING_BEFORE: Mapping[str, tuple[tuple[tuple[int, ...], frozenset[Can]], ...]] = {
    "mariadb": (
        ((10, 2), frozenset({Can.WINDOWS, Can.GENERATED})),
        ((10, 3), frozenset({Can.NOWAIT, Can.INTERSECT, Can.READ_OWN_TARGET})),
        ((10, 6), frozenset({Can.SKIP_LOCKED})),
        # DELETE may read its own table since 10.3.1, UPDATE too, but only outside of ORDER BY .. LIMIT
    ),
    "mysql": (
        ((5, 7), frozenset({Can.GENERATED})),
        ((8, 0), frozenset({Can.NOWAIT, Can.SKIP_LOCKED, Can.WINDOWS})),
        ((8, 0, 31), frozenset({Can.INTERSECT})),
    ),
    "tidb": (((6, 2), frozenset({Can.SAVEPOINT})),),
    "postgres": (((12,), frozenset({Can.GENERATED})),),
}


def flavour_of(dbms: str, version: str = "") -> Flavour:
    """The flavour of a DBMS, without what came after that version (as the server says it); none: newest."""
    if dbms not in FLAVOURS:
        raise UsageError(f"nothing can be generated for {dbms!r} yet; known are {', '.join(FLAVOURS)}")
    flavour = FLAVOURS[dbms]
    found = re.search(r"\d+(?:\.\d+)*", version)
    if found is None:
        return flavour
    number = tuple(map(int, found.group().split(".")))
    for since, abilities in _MISSING_BEFORE.get(dbms, ()):
        if number < since:
            flavour = replace(flavour, abilities=flavour.abilities - abilities)
    if dbms == "mysql" and number < (8, 0):
        flavour = replace(flavour, share="LOCK IN SHARE MODE")
    return flavour
