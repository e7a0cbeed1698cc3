"""SQLite: one file in WAL mode, a connection per session.

Nothing waits here: with a busy time-out of 0 a lock that is taken is an error at once. A write in a
transaction whose snapshot is no longer the newest fails with SQLITE_BUSY_SNAPSHOT; only running the whole
transaction again helps, so that is a serialization failure, while SQLITE_BUSY is a lock that may come free
(https://www.sqlite.org/rescode.html#busy_snapshot). Neither ends the transaction.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import (
    Action,
    Affected,
    Check,
    Column,
    ErrorKind,
    Failed,
    ForeignKey,
    Index,
    Level,
    Row,
    Rows,
    Schema,
    Table,
    TransactionState,
    Undone,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.targets.definitions import IndexText, TableText, read_index, read_table
from acidtest.targets.inprocess import Deadline, InProcessSession, InProcessTarget
from acidtest.targets.sqltext import quote

APPLICATION_ID = 0x41434944
"""The mark in the file's header: ACID."""

_REFERS = re.compile(r"\bREFERENCES\b", re.IGNORECASE)

INSTRUCTIONS_BETWEEN_CHECKS = 20_000

OBJECTS = r"sqlite_master WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'"

# https://www.sqlite.org/rescode.html; an extended code is looked up first, then its low byte.
KINDS = {
    2: ErrorKind.INTERNAL,
    3: ErrorKind.ACCESS,
    4: ErrorKind.CANCELLED,
    5: ErrorKind.LOCK_NOT_AVAILABLE,
    517: ErrorKind.SERIALIZATION_FAILURE,  # BUSY_SNAPSHOT
    6: ErrorKind.LOCK_NOT_AVAILABLE,
    7: ErrorKind.RESOURCES,
    8: ErrorKind.READ_ONLY,
    1032: ErrorKind.CONNECTION_LOST,  # READONLY_DBMOVED: the file was taken away
    9: ErrorKind.CANCELLED,
    10: ErrorKind.CONNECTION_LOST,  # IOERR
    11: ErrorKind.INTERNAL,  # CORRUPT
    12: ErrorKind.INTERNAL,
    13: ErrorKind.RESOURCES,
    14: ErrorKind.CONNECTION_LOST,  # CANTOPEN
    15: ErrorKind.LOCK_NOT_AVAILABLE,  # PROTOCOL: others were faster many times in a row
    17: ErrorKind.SCHEMA_CHANGED,
    18: ErrorKind.RESOURCES,
    19: ErrorKind.CONSTRAINT,
    275: ErrorKind.CHECK,
    787: ErrorKind.FOREIGN_KEY,
    1299: ErrorKind.NOT_NULL,
    1555: ErrorKind.DUPLICATE_KEY,  # PRIMARYKEY
    2067: ErrorKind.DUPLICATE_KEY,  # UNIQUE
    2579: ErrorKind.DUPLICATE_KEY,  # ROWID
    3091: ErrorKind.BAD_VALUE,  # a STRICT table's DATATYPE
    20: ErrorKind.BAD_VALUE,
    21: ErrorKind.INTERNAL,
    22: ErrorKind.RESOURCES,  # a file larger than the system takes
    23: ErrorKind.ACCESS,
    25: ErrorKind.OUT_OF_RANGE,
    26: ErrorKind.INTERNAL,  # NOTADB
}

# SQLite has the one code 1 for all that it finds out while it prepares a statement; only the text tells more.
KINDS_OF_CODE_1 = (
    ("syntax error", ErrorKind.SYNTAX),
    ("unrecognized token", ErrorKind.SYNTAX),
    ("incomplete input", ErrorKind.SYNTAX),
    ("no such savepoint", ErrorKind.TRANSACTION_STATE),
    ("no such", ErrorKind.NO_SUCH_OBJECT),
    ("unknown column", ErrorKind.NO_SUCH_OBJECT),
    ("unknown database", ErrorKind.NO_SUCH_OBJECT),
    ("unknown table option", ErrorKind.SYNTAX),
    ("has no column named", ErrorKind.NO_SUCH_OBJECT),
    ("already exists", ErrorKind.OBJECT_EXISTS),
    ("already another table or index", ErrorKind.OBJECT_EXISTS),
    ("already in use", ErrorKind.OBJECT_EXISTS),
    ("duplicate column name", ErrorKind.OBJECT_EXISTS),
    ("duplicate WITH table name", ErrorKind.OBJECT_EXISTS),
    ("transaction", ErrorKind.TRANSACTION_STATE),
    ("integer overflow", ErrorKind.OUT_OF_RANGE),
    ("malformed JSON", ErrorKind.BAD_VALUE),
    ("bad JSON path", ErrorKind.BAD_VALUE),
    ("JSON cannot hold", ErrorKind.BAD_VALUE),
    ("ESCAPE expression must be", ErrorKind.BAD_VALUE),
    ("generated column", ErrorKind.CONSTRAINT),
    ("foreign key mismatch", ErrorKind.CONSTRAINT),
    ("would break", ErrorKind.CONSTRAINT),
    ("Cannot add a NOT NULL column", ErrorKind.NOT_NULL),
    ("error in ", ErrorKind.CONSTRAINT),  # after ALTER, in what depends on the table
    ("values for", ErrorKind.SYNTAX),
    ("values were supplied", ErrorKind.SYNTAX),
    ("wrong number of arguments", ErrorKind.SYNTAX),
    ("ambiguous column name", ErrorKind.SYNTAX),
    ("misuse of", ErrorKind.SYNTAX),
    ("sub-select returns", ErrorKind.SYNTAX),
    ("row value misused", ErrorKind.SYNTAX),
    ("a GROUP BY clause is required", ErrorKind.SYNTAX),
    ("term out of range", ErrorKind.SYNTAX),
    ("do not have the same number of result columns", ErrorKind.SYNTAX),
    ("ON CONFLICT clause does not match", ErrorKind.SYNTAX),
    ("parser stack overflow", ErrorKind.RESOURCES),
    ("too many", ErrorKind.RESOURCES),
    ("too large", ErrorKind.RESOURCES),
    ("too deep", ErrorKind.RESOURCES),
    ("too complex", ErrorKind.RESOURCES),
    ("may not be modified", ErrorKind.ACCESS),
    ("because it is a view", ErrorKind.UNSUPPORTED),
    ("not supported", ErrorKind.UNSUPPORTED),
    ("prohibited", ErrorKind.UNSUPPORTED),
    ("may not be", ErrorKind.UNSUPPORTED),
    ("cannot", ErrorKind.UNSUPPORTED),
    ("Cannot", ErrorKind.UNSUPPORTED),
    ("must be", ErrorKind.SYNTAX),
)


def classify(error: sqlite3.Error | sqlite3.Warning) -> tuple[ErrorKind, str]:
    """The kind and the extended result code of an error; the driver's own complaints have no code."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return ErrorKind.UNSUPPORTED, ""
    if code == 1:
        text = str(error)
        return next((kind for part, kind in KINDS_OF_CODE_1 if part in text), ErrorKind.OTHER), "1"
    return KINDS.get(code) or KINDS.get(code & 0xFF, ErrorKind.OTHER), str(code)


class SQLiteSession(InProcessSession):
    """One connection to the file."""

    def __init__(self, path: Path, limit_s: float) -> None:
        super().__init__()
        self._path = path
        self._deadline = Deadline(limit_s)
        self._connection = self._connect()

    def _connect(self) -> sqlite3.Connection:
        address = f"{self._path.as_uri()}?mode=rw"
        try:
            connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=0)
            connection.text_factory = _text_or_bytes
            connection.set_progress_handler(self._deadline.passed, INSTRUCTIONS_BETWEEN_CHECKS)
            marked = _has_mark(connection)
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            raise TargetFailedError(f"the SQLite file {self._path} cannot be opened: {error}") from None
        if not marked:
            connection.close()
            raise TargetFailedError(f"the SQLite file {self._path} is no longer the one that acidtest made")
        return connection

    def _run(self, sql: str) -> Rows | Affected | Failed:
        before = self.transaction
        try:
            with self._deadline:
                outcome = self._result(sql)
        except (sqlite3.Error, sqlite3.Warning) as error:
            return self._failure(error, before, kind_of(sql))
        self.transaction = self._state()
        return outcome

    def _result(self, sql: str) -> Rows | Affected:
        cursor = self._connection.execute(sql)
        try:
            if cursor.description:
                rows = tuple(cursor.fetchall())
                return Rows(tuple(column[0] for column in cursor.description), rows)
            if cursor.rowcount < 0 and kind_of(sql) is StatementKind.WRITE:
                # The driver counts only what begins with INSERT, UPDATE, DELETE or REPLACE, not with WITH.
                return Affected(self._connection.execute("SELECT changes()").fetchone()[0])
            return Affected(max(cursor.rowcount, 0))
        finally:
            cursor.close()

    def _failure(
        self, error: sqlite3.Error | sqlite3.Warning, before: TransactionState, statement: StatementKind
    ) -> Failed:
        kind, code = classify(error)
        if kind is ErrorKind.CONNECTION_LOST:
            self.close()
            return Failed(kind, code, str(error), Undone.CONNECTION)
        self.transaction = self._state()
        if before is TransactionState.OPEN and self.transaction is TransactionState.NONE:
            undone = Undone.TRANSACTION
        elif statement is StatementKind.COMMIT:
            undone = Undone.NOTHING  # the transaction is still open, and COMMIT can be tried again
        else:
            undone = Undone.STATEMENT
        return Failed(kind, code, str(error), undone)

    def _state(self) -> TransactionState:
        return TransactionState.OPEN if self._connection.in_transaction else TransactionState.NONE

    def renew(self) -> None:
        self._connection.close()
        self._connection = self._connect()
        self.transaction = TransactionState.NONE

    def close(self) -> None:
        self.alive = False
        self.transaction = TransactionState.NONE
        with suppress(sqlite3.Error):  # closing never fails, whatever became of the file
            self._connection.close()


class SQLiteTarget(InProcessTarget):
    """A file in WAL mode."""

    dbms = "sqlite"
    levels = (Level.SERIALIZABLE,)
    default_level = Level.SERIALIZABLE
    dialect = "sqlite"
    version = sqlite3.sqlite_version

    def _is_marked(self, path: Path) -> bool:
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
                return _has_mark(connection)
        except sqlite3.Error:
            return False

    def _create(self) -> None:
        self._file.remove()
        try:
            with closing(sqlite3.connect(self._file.path, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        except sqlite3.Error as error:
            raise UsageError(f"{self.label}: cannot create {self._file.path}: {error}") from None
        self._control = self._connect()

    def _connect(self) -> SQLiteSession:
        return SQLiteSession(self._file.path, self._limit_s)

    def _empty(self) -> None:
        # A virtual table takes tables of its own along, so it comes first.
        objects = self._ask(
            f"SELECT type, name FROM {OBJECTS} AND type IN ('table', 'view')"
            " ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, type DESC"
        )
        drops = [f"DROP {kind!s} IF EXISTS {quote(str(name))}" for kind, name in objects.rows]
        if drops:
            self._without_foreign_keys(drops)

    def build(self, statements: Sequence[str]) -> None:
        super().build(statements)
        for session in self._sessions:
            # A connection that has not noticed new tables refuses some statements instead of looking again.
            if session.alive:
                session.execute("SELECT 1 FROM sqlite_master LIMIT 1")

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        self._without_foreign_keys([f"DELETE FROM {quote(table)}" for table in tables])
        for statement in statements:
            self._demand(statement)

    def _without_foreign_keys(self, statements: Sequence[str]) -> None:
        """Run statements in one transaction whose order the foreign keys must not mind."""
        self._demand("PRAGMA foreign_keys = OFF")
        for statement in ("BEGIN IMMEDIATE", *statements, "COMMIT", "PRAGMA foreign_keys = ON"):
            self._demand(statement)

    def schema(self) -> Schema:
        objects = self._ask(f"SELECT type, name, tbl_name, sql FROM {OBJECTS} ORDER BY name").rows
        texts = {str(name): str(sql) for _, name, _, sql in objects}
        triggers: dict[str, list[str]] = {}
        for kind, name, table, _ in objects:
            if kind == "trigger":
                triggers.setdefault(str(table).lower(), []).append(str(name))
        return Schema(
            tables=tuple(
                self._table(str(name), texts, triggers.get(str(name).lower(), []))
                for kind, name, *_ in objects
                if kind == "table"
            ),
            views=tuple(str(name) for kind, name, *_ in objects if kind == "view"),
        )

    def _table(self, name: str, texts: Mapping[str, str], triggers: list[str]) -> Table:
        sql = texts[name]
        text = read_table(sql)
        columns = self._ask(f"PRAGMA table_xinfo({quote(name)})").rows
        indexes = [
            self._index(row, text, texts) for row in self._ask(f"PRAGMA index_list({quote(name)})").rows
        ]
        key = [(position, str(column)) for _, column, _, _, _, position, _ in columns if position]
        is_rowid = bool(key) and not any(index.primary for index in indexes)
        if is_rowid:  # an INTEGER PRIMARY KEY is the row's own number and has no index
            indexes.append(Index("rowid", tuple(column for _, column in key), unique=True, primary=True))
        counts = "AUTOINCREMENT" in sql.upper()
        return Table(
            name=name,
            columns=tuple(
                Column(
                    name=str(column),
                    type=str(type_),
                    nullable=not (not_null or (position and is_rowid)),
                    default=None if default is None else str(default),
                    generated=hidden in (2, 3),
                    auto_increment=bool(position and counts),
                    collation=text.collations.get(str(column)),
                    expression=text.generated.get(str(column)),
                )
                for _, column, type_, not_null, default, position, hidden in columns
            ),
            indexes=tuple(sorted(indexes, key=lambda index: index.name)),
            foreign_keys=tuple(self._foreign_keys(name, text.is_deferred)) if _REFERS.search(sql) else (),
            # What a STRICT table refuses depends on the types of all its columns.
            checks=(*text.checks, Check("STRICT", "STRICT")) if "STRICT" in text.options else text.checks,
            triggers=(*triggers, *(("ON CONFLICT",) if text.has_conflict_clause else ())),
        )

    def _index(self, listed: Row, table: TableText, texts: Mapping[str, str]) -> Index:
        _, name, unique, origin, *_ = listed
        text = read_index(texts[str(name)]) if origin == "c" else IndexText((), None)
        columns = []
        for position, _, column, _, collation, is_key in self._ask(
            f"PRAGMA index_xinfo({quote(str(name))})"
        ).rows:
            if is_key and column is None:
                columns.append(text.keys[int(str(position))])
            elif is_key:
                same = table.collations.get(str(column), "BINARY").upper() == str(collation).upper()
                columns.append(str(column) if same else f"{quote(str(column))} COLLATE {collation!s}")
        return Index(str(name), tuple(columns), bool(unique), origin == "pk", where=text.where)

    def _foreign_keys(self, table: str, is_deferred: bool) -> Iterator[ForeignKey]:
        rows = self._ask(f"PRAGMA foreign_key_list({quote(table)})").rows
        for number in sorted({int(str(row[0])) for row in rows}):
            own = sorted((row for row in rows if row[0] == number), key=lambda row: int(str(row[1])))
            _, _, parent, _, _, on_update, on_delete, _ = own[0]
            yield ForeignKey(
                name="",
                columns=tuple(str(row[3]) for row in own),
                table=str(parent),
                references=tuple(str(row[4]) for row in own if row[4] is not None) or self._key(str(parent)),
                on_delete=Action(str(on_delete)),
                on_update=Action(str(on_update)),
                deferrable=is_deferred,
            )

    def _key(self, table: str) -> tuple[str, ...]:
        """The primary key, which a foreign key means that names no columns."""
        rows = self._ask(f"PRAGMA table_info({quote(table)})").rows
        return tuple(str(row[1]) for row in sorted(rows, key=lambda row: int(str(row[5]))) if row[5])


def _has_mark(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def _text_or_bytes(raw: bytes) -> str | bytes:
    """Text need not be valid UTF-8 in SQLite; what is not stays as it is."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
