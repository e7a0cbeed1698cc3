"""A real server to compare with, asked through the project's own targets."""

import select
from dataclasses import dataclass
from random import Random

from acidtest.evaluator import Dialect, Settings, dialect_of
from acidtest.model import Affected, Failed, Row, Rows, Schema
from acidtest.targets.base import Target
from acidtest.targets.resolve import open_target
from tests.evaluator.expressions import (
    Expressions,
    MySQLExpressions,
    PostgresExpressions,
    SQLiteExpressions,
)
from tests.evaluator.tables import (
    Kind,
    declaration,
    duckdb_kinds,
    mysql_kinds,
    postgres_kinds,
    random_rows,
    schema_of,
    sqlite_kinds,
    table_of,
)

TABLES = {"t": 24, "u": 7}
"""Tables and how many rows each has; `t` is what expressions range over."""

KINDS = {"postgres": postgres_kinds, "sqlite": sqlite_kinds, "duckdb": duckdb_kinds}
MAKERS: dict[str, type[Expressions]] = {
    "postgres": PostgresExpressions,
    "sqlite": SQLiteExpressions,
    "duckdb": PostgresExpressions,
}
"""What is not here is of MySQL's family."""


@dataclass
class Server:
    """One session of a target, with the tables filled."""

    target: Target
    dialect: Dialect
    kinds: dict[str, Kind]
    schema: Schema
    views: dict[str, list[Row]]

    def __post_init__(self) -> None:
        self.session = self.target.open_session()

    def ask(self, sql: str) -> Rows | Affected | Failed:
        """The server's answer to one statement."""
        self.session.launch(sql)
        while (reply := self.session.poll()) is None:
            select.select([self.session.fileno()], [], [], 60)
        return reply.outcome

    def expressions(self, random: Random, prefix: str = "") -> Expressions:
        """A generator of expressions in the server's dialect."""
        maker = MAKERS.get(self.target.dbms, MySQLExpressions)
        return maker(random, self.kinds, prefix)

    def refill(self, random: Random) -> None:
        """New random rows in all tables."""
        for name, count in TABLES.items():
            rows = random_rows(random, self.kinds, count)
            self.views[name] = rows
            self.must(f"DELETE FROM {name}")
            self.must(f"INSERT INTO {name} VALUES {', '.join(_literal_row(row) for row in rows)}")

    def must(self, sql: str) -> Rows | Affected:
        """An answer that is no error."""
        outcome = self.ask(sql)
        if isinstance(outcome, Failed):
            raise AssertionError(f"{outcome.message}: {sql}")
        return outcome

    def close(self) -> None:
        """End the session and drop the private database."""
        self.session.close()
        self.target.close()


def open_server(spec: str, *, tables: bool = True) -> Server:
    """Start or reach a server and create the tables."""
    target = open_target(spec)
    own_kinds = KINDS.get(target.dbms)
    kinds = own_kinds() if own_kinds else mysql_kinds(_default_collation(target))
    schema = schema_of([table_of(name, kinds) for name in TABLES])
    server = Server(target, dialect_of(target.dbms), kinds, schema, {})
    server.dialect = dialect_of(target.dbms, _settings(server))
    for name in TABLES if tables else ():
        server.must(declaration(name, kinds))
    return server


def _default_collation(target: Target) -> str:
    modern = target.dbms == "mysql" and int(target.version.split(".")[0]) >= 8
    return "utf8mb4_0900_ai_ci" if modern else "utf8mb4_general_ci"


def _settings(server: Server) -> Settings:
    version = tuple(
        int(part) for part in server.target.version.split("-")[0].split(".")[:2] if part.isdigit()
    )
    if server.target.dbms == "postgres":
        row = _one(server, "SELECT datcollate FROM pg_database WHERE datname = current_database()")
        return Settings(version=version, database_collation=str(row[0]))
    if server.target.dbms in KINDS:
        return Settings(version=version)
    row = _one(server, "SELECT @@collation_connection, @@sql_mode, @@div_precision_increment")
    return Settings(
        version=version,
        connection_collation=str(row[0]),
        division_digits=int(str(row[2])),
        full_group_by="ONLY_FULL_GROUP_BY" in str(row[1]),
        strict="STRICT_" in str(row[1]),
    )


def _one(server: Server, sql: str) -> Row:
    outcome = server.must(sql)
    assert isinstance(outcome, Rows)
    return outcome.rows[0]


def _literal_row(row: Row) -> str:
    return f"({', '.join(_literal(value) for value in row)})"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    if isinstance(value, int) or hasattr(value, "quantize"):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
