"""The tables that the generator draws from, and random rows for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

from acidtest.model import Column, Index, Row, Schema, Table, Value


@dataclass(frozen=True)
class Kind:
    """Columns of one kind: how the type is declared, how the catalog spells it, what values it has."""

    family: str
    declared: str
    spelled: str
    values: Callable[[Random], Value]
    collation: str | None = None


_WORDS = [
    "a",
    "A",
    "b",
    "ab",
    "AB",
    "aB",
    "abc",
    "x_y",
    "1",
    "10",
    "2",
    "1a",
    "-1",
    "1.5",
    "0",
    "",
    "a b",
    "%",
    "z ",
]


def _word(random: Random) -> str:
    return random.choice(_WORDS)


def _small(random: Random) -> int:
    return random.choice([0, 1, -1, 2, 3, 5, 7, 10, -3, 100, random.randint(-50, 50)])


def _integers(low: int, high: int) -> Callable[[Random], Value]:
    def draw(random: Random) -> Value:
        near = random.choice([low, low + 1, high, high - 1])
        return near if random.random() < 0.1 else max(low, min(high, _small(random)))

    return draw


def _decimals(digits: int, scale: int) -> Callable[[Random], Value]:
    def draw(random: Random) -> Value:
        if random.random() < 0.15:
            return Decimal(random.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-scale)
        return Decimal(random.randint(-1500, 1500)).scaleb(-min(scale, 2)).quantize(Decimal(1).scaleb(-scale))

    return draw


def _double(random: Random) -> Value:
    return random.choice(
        [0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1e10, 1e-5, 123456.789, 1e20, random.uniform(-100, 100)]
    )


def _day(random: Random) -> Value:
    return date(2020, 1, 1) + timedelta(days=random.choice([0, 1, 31, 59, 365, random.randint(-5000, 5000)]))


def _moment(random: Random) -> Value:
    return datetime(2020, 1, 1) + timedelta(seconds=random.choice([0, 1, 86400, random.randint(0, 10**8)]))


def _fitting(draw: Callable[[Random], str], length: int, *, strip: bool = False) -> Callable[[Random], Value]:
    def fitted(random: Random) -> Value:
        text = draw(random)[:length]
        return text.rstrip(" ") if strip else text

    return fitted


def _padded(length: int) -> Callable[[Random], Value]:
    return lambda random: _word(random)[:length].ljust(length)


def _flag(random: Random) -> Value:
    return random.random() < 0.5


def mysql_kinds(case_insensitive: str) -> dict[str, Kind]:
    """Columns for MySQL and MariaDB; the default collation differs."""
    text, binary = (
        f"CHARACTER SET utf8mb4 COLLATE {case_insensitive}",
        "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    )
    return {
        "i": Kind("int", "INT", "int", _integers(-(1 << 31), (1 << 31) - 1)),
        "j": Kind("int", "INT", "int", _small),
        "sm": Kind("int", "SMALLINT", "smallint", _integers(-(1 << 15), (1 << 15) - 1)),
        "un": Kind("int", "INT UNSIGNED", "int unsigned", _integers(0, (1 << 32) - 1)),
        "b": Kind("int", "BIGINT", "bigint", _integers(-(1 << 63), (1 << 63) - 1)),
        "ub": Kind("int", "BIGINT UNSIGNED", "bigint unsigned", _integers(0, (1 << 64) - 1)),
        "d": Kind("decimal", "DECIMAL(10,2)", "decimal(10,2)", _decimals(10, 2)),
        "e": Kind("decimal", "DECIMAL(20,6)", "decimal(20,6)", _decimals(20, 6)),
        "f": Kind("double", "DOUBLE", "double", _double),
        "v": Kind("text", f"VARCHAR(10) {text}", "varchar(10)", _fitting(_word, 10), case_insensitive),
        "w": Kind("text", f"VARCHAR(10) {binary}", "varchar(10)", _fitting(_word, 10), "utf8mb4_bin"),
        "c": Kind("text", f"CHAR(5) {text}", "char(5)", _fitting(_word, 5, strip=True), case_insensitive),
        "dt": Kind("date", "DATE", "date", _day),
        "ts": Kind("datetime", "DATETIME", "datetime", _moment),
    }


def postgres_kinds() -> dict[str, Kind]:
    """Columns for PostgreSQL."""
    return {
        "i": Kind("int", "integer", "integer", _integers(-(1 << 31), (1 << 31) - 1)),
        "j": Kind("int", "integer", "integer", _small),
        "sm": Kind("int", "smallint", "smallint", _integers(-(1 << 15), (1 << 15) - 1)),
        "b": Kind("int", "bigint", "bigint", _integers(-(1 << 63), (1 << 63) - 1)),
        "d": Kind("decimal", "numeric(10,2)", "numeric(10,2)", _decimals(10, 2)),
        "e": Kind("decimal", "numeric", "numeric", _decimals(20, 6)),
        "f": Kind("double", "double precision", "double precision", _double),
        "v": Kind("text", "varchar(10)", "character varying(10)", _fitting(_word, 10)),
        "w": Kind("text", "text", "text", _word),
        "c": Kind("text", "char(5)", "character(5)", _padded(5)),
        "fl": Kind("bool", "boolean", "boolean", _flag),
        "dt": Kind("date", "date", "date", _day),
        "ts": Kind("datetime", "timestamp", "timestamp without time zone", _moment),
    }


def sqlite_kinds() -> dict[str, Kind]:
    """Columns of each affinity for SQLite, with values as they are stored."""
    return {
        "i": Kind("int", "INT", "INT", _integers(-(1 << 31), (1 << 31) - 1)),
        "j": Kind("int", "INTEGER", "INTEGER", _small),
        "sm": Kind("int", "SMALLINT", "SMALLINT", _integers(-(1 << 15), (1 << 15) - 1)),
        "b": Kind("int", "BIGINT", "BIGINT", _integers(-(1 << 63), (1 << 63) - 1)),
        "d": Kind("decimal", "REAL", "REAL", _double),
        "e": Kind("decimal", "NUMERIC", "NUMERIC", _small),
        "f": Kind("double", "DOUBLE", "DOUBLE", _double),
        "v": Kind("text", "VARCHAR(10)", "VARCHAR(10)", _fitting(_word, 10)),
        "w": Kind("text", "TEXT", "TEXT", _word),
        "fl": Kind("bool", "BOOLEAN", "BOOLEAN", lambda random: int(random.random() < 0.5)),
        "dt": Kind("date", "CHAR(10)", "CHAR(10)", lambda random: str(_day(random))),
    }


def duckdb_kinds() -> dict[str, Kind]:
    """Columns for DuckDB."""
    return {
        "i": Kind("int", "INTEGER", "INTEGER", _integers(-(1 << 31), (1 << 31) - 1)),
        "j": Kind("int", "INTEGER", "INTEGER", _small),
        "sm": Kind("int", "BIGINT", "BIGINT", _small),
        "b": Kind("int", "BIGINT", "BIGINT", _integers(-(1 << 63), (1 << 63) - 1)),
        "d": Kind("decimal", "DECIMAL(10,2)", "DECIMAL(10,2)", _decimals(10, 2)),
        "e": Kind("decimal", "DECIMAL(15,6)", "DECIMAL(15,6)", _decimals(15, 6)),
        "f": Kind("double", "DOUBLE", "DOUBLE", _double),
        "v": Kind("text", "VARCHAR(10)", "VARCHAR", _fitting(_word, 10)),
        "w": Kind("text", "VARCHAR", "VARCHAR", _word),
        "fl": Kind("bool", "BOOLEAN", "BOOLEAN", _flag),
        "dt": Kind("date", "DATE", "DATE", _day),
    }


def table_of(name: str, kinds: dict[str, Kind]) -> Table:
    """A table with a primary key `pk` and a column of each kind, as a target would describe it."""
    columns = [Column("pk", "integer" if "fl" in kinds else "int", nullable=False)]
    columns += [
        Column(key, kind.spelled, nullable=True, collation=kind.collation) for key, kind in kinds.items()
    ]
    return Table(name, tuple(columns), (Index("pk", ("pk",), unique=True, primary=True),))


def declaration(name: str, kinds: dict[str, Kind]) -> str:
    """CREATE TABLE."""
    columns = ", ".join(f"{key} {kind.declared}" for key, kind in kinds.items())
    return f"CREATE TABLE {name} (pk INT PRIMARY KEY, {columns})"


def random_rows(random: Random, kinds: dict[str, Kind], count: int) -> list[Row]:
    """Rows with NULLs here and there; `pk` counts from 1."""
    return [
        (pk, *(None if random.random() < 0.12 else kind.values(random) for kind in kinds.values()))
        for pk in range(1, count + 1)
    ]


def schema_of(tables: Sequence[Table]) -> Schema:
    """The catalog of the tables."""
    return Schema(tuple(tables))
