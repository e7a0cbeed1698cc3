"""DuckDB: one file, a connection per session, optimistic snapshot isolation.

Nothing waits here: who writes second fails at once, or at COMMIT. DuckDB is the one DBMS that gives no error
codes, so errors are told apart by exception class and, where a class covers several, by the message.
A transaction's snapshot is taken when it first touches the database, not at BEGIN (measured).
"""

import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import (
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
    Value,
)
from acidtest.sql import StatementKind, kind_of
from acidtest.targets.definitions import TableText, read_index, read_table, unquote
from acidtest.targets.inprocess import STATEMENT_LIMIT_S, Deadline, InProcessSession, InProcessTarget
from acidtest.targets.sqltext import quote

PRIVATE_SCHEMA = "acidtest_private"
"""Where everything happens; that it exists marks the file as ours."""

OLDEST_MAJOR_VERSION = 2
"""Before it foreign keys work only in the schema `main`, and the catalogue tells less (tried: 1.1, 1.4)."""

SETTINGS = {"threads": 1}
"""A handful of rows is never shared out among threads, and waking them costs more than the work."""

MEMORY = Path("/dev/shm")
MEMORY_BYTES_MIN = 1 << 28
"""DuckDB waits for the disk at every COMMIT and cannot be told not to, so a temporary file lies in memory
where there is that much of it: many times what the log grows to before it is written back."""

# Exception class -> (part of the message, kind); the first that fits, and an empty part fits always.
KINDS: dict[str, tuple[tuple[str, ErrorKind], ...]] = {
    "ParserException": (("", ErrorKind.SYNTAX),),
    "SyntaxException": (("", ErrorKind.SYNTAX),),
    "BinderException": (
        ("not found", ErrorKind.NO_SUCH_OBJECT),
        ("does not exist", ErrorKind.NO_SUCH_OBJECT),
        ("does not have a column", ErrorKind.NO_SUCH_OBJECT),
        ("No function matches", ErrorKind.NO_SUCH_OBJECT),
        ("", ErrorKind.SYNTAX),
    ),
    "CatalogException": (
        ("already exists", ErrorKind.OBJECT_EXISTS),
        ("", ErrorKind.NO_SUCH_OBJECT),
    ),
    "DependencyException": (("", ErrorKind.CONSTRAINT),),
    "ConstraintException": (
        ("NOT NULL", ErrorKind.NOT_NULL),
        ("CHECK", ErrorKind.CHECK),
        ("foreign key", ErrorKind.FOREIGN_KEY),
        ("uplicate key", ErrorKind.DUPLICATE_KEY),
        ("", ErrorKind.CONSTRAINT),
    ),
    "TransactionException": (
        ("transaction is aborted", ErrorKind.TRANSACTION_STATE),
        ("transaction is active", ErrorKind.TRANSACTION_STATE),
        ("within a transaction", ErrorKind.TRANSACTION_STATE),
        ("read-only mode", ErrorKind.READ_ONLY),
        ("foreign key", ErrorKind.FOREIGN_KEY),
        ("duplicate key", ErrorKind.DUPLICATE_KEY),
        ("altered", ErrorKind.SCHEMA_CHANGED),
        ("dropped", ErrorKind.SCHEMA_CHANGED),
        ("onflict", ErrorKind.WRITE_CONFLICT),
        ("", ErrorKind.OTHER),
    ),
    "ConversionException": (
        ("out of range", ErrorKind.OUT_OF_RANGE),
        ("", ErrorKind.BAD_VALUE),
    ),
    "OutOfRangeException": (
        ("ivision by zero", ErrorKind.DIVISION_BY_ZERO),
        ("", ErrorKind.OUT_OF_RANGE),
    ),
    "SequenceException": (("", ErrorKind.OUT_OF_RANGE),),
    "InvalidInputException": (("read-only", ErrorKind.READ_ONLY), ("", ErrorKind.BAD_VALUE)),
    "InvalidTypeException": (("", ErrorKind.BAD_VALUE),),
    "TypeMismatchException": (("", ErrorKind.BAD_VALUE),),
    "NotImplementedException": (("", ErrorKind.UNSUPPORTED),),
    "PermissionException": (("", ErrorKind.ACCESS),),
    "InterruptException": (("", ErrorKind.CANCELLED),),
    "OutOfMemoryException": (("", ErrorKind.RESOURCES),),
    "ResourceInUseException": (("", ErrorKind.RESOURCES),),
    "ConnectionException": (("", ErrorKind.CONNECTION_LOST),),
    "IOException": (("", ErrorKind.INTERNAL),),
    "SerializationException": (("", ErrorKind.INTERNAL),),
    "InternalException": (("", ErrorKind.INTERNAL),),
    "FatalException": (("", ErrorKind.INTERNAL),),
}

ENDS_SESSION = frozenset({"ConnectionException", "FatalException"})
"""After these the database takes no more statements until it is opened anew."""

_ENDS_TRANSACTION = (StatementKind.COMMIT, StatementKind.ROLLBACK)
_MAKES_MACRO = re.compile(r"\b(MACRO|FUNCTION)\b", re.IGNORECASE)
_PLAIN = (int, str, bytes, bool, type(None))


def classify(class_name: str, message: str) -> ErrorKind:
    """The kind of an error from its exception class and message."""
    return next((kind for part, kind in KINDS.get(class_name, ()) if part in message), ErrorKind.OTHER)


def load_driver() -> ModuleType:
    """The duckdb module, imported only when it is needed."""
    try:
        import duckdb  # noqa: PLC0415
    except ImportError:
        raise UsageError("DuckDB is not installed; run: pip install 'acidtest[duckdb]'") from None
    if int(duckdb.__version__.split(".")[0]) < OLDEST_MAJOR_VERSION:
        raise UsageError(
            f"DuckDB {duckdb.__version__} is too old; run: pip install --upgrade 'acidtest[duckdb]'"
        )
    return duckdb


class Watchdog:
    """A thread that interrupts a statement which runs over its limit; it looks a few times per limit."""

    def __init__(self, limit_s: float) -> None:
        self._deadline = Deadline(limit_s)
        self._running: Any = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="acidtest-duckdb-watchdog", daemon=True)
        self._thread.start()

    @contextmanager
    def over(self, connection: Any) -> Iterator[None]:
        """Watch over the statement that runs on the connection in this block."""
        with self._deadline:
            with self._lock:
                self._running = connection
            try:
                yield
            finally:
                with self._lock:  # so that no late interrupt can hit the next statement
                    self._running = None

    def _look(self) -> None:
        while not self._stop.wait(self._deadline.limit_s / 8):
            with self._lock:
                if self._running is not None and self._deadline.passed():
                    self._running.interrupt()

    def end(self) -> None:
        """Stop the thread."""
        self._stop.set()
        self._thread.join()


class DuckDBSession(InProcessSession):
    """One connection to the open database."""

    def __init__(
        self, driver: ModuleType, database: Any, watchdog: Watchdog, schema: str = PRIVATE_SCHEMA
    ) -> None:
        super().__init__()
        self._schema = schema
        self._driver = driver
        self._database = database
        self._watchdog = watchdog
        self._connection = self._connect()

    def _connect(self) -> Any:
        try:
            connection = self._database.cursor()
            if self._schema != "main":
                connection.execute(f"USE {self._schema}")
        except self._driver.Error as error:
            raise TargetFailedError(f"the DuckDB database takes no more connections: {error}") from None
        return connection

    def _run(self, sql: str) -> Rows | Affected | Failed:
        before, kind = self.transaction, kind_of(sql)
        try:
            with self._watchdog.over(self._connection):
                outcome = self._result(sql, kind)
        except self._driver.Error as error:
            return self._failure(error, before, kind)
        if kind is StatementKind.BEGIN:
            self.transaction = TransactionState.OPEN
        elif kind in _ENDS_TRANSACTION:
            self.transaction = TransactionState.NONE
            if kind is StatementKind.COMMIT and before is TransactionState.FAILED:
                # DuckDB says nothing, but all work is gone (measured on 2.0).
                message = "COMMIT of a transaction that had failed; it was rolled back"
                return Failed(
                    ErrorKind.TRANSACTION_STATE, "TransactionException", message, Undone.TRANSACTION
                )
        return outcome

    def _result(self, sql: str, kind: StatementKind) -> Rows | Affected:
        # Not parsed beforehand: a syntax error in `execute` fails the transaction, one in a parse does not.
        self._connection.execute(sql)
        description = self._connection.description
        rows = self._connection.fetchall() if description else []
        names = tuple(column[0] for column in description or ())
        if kind is StatementKind.QUERY:
            return Rows(names, tuple(_plain(row) for row in rows))
        if names == ("Count",):  # what INSERT, UPDATE and DELETE answer
            return Affected(rows[0][0] if rows else 0)
        if not rows and names in ((), ("Success",)):
            return Affected(0)
        return Rows(names, tuple(_plain(row) for row in rows))

    def _failure(self, error: Exception, before: TransactionState, statement: StatementKind) -> Failed:
        name, message = type(error).__name__, str(error)
        kind = classify(name, message)
        if name in ENDS_SESSION:
            self.close()
            return Failed(kind, name, message, Undone.CONNECTION)
        if before is not TransactionState.NONE:
            self.transaction = self._ask_state(statement in (*_ENDS_TRANSACTION, StatementKind.OTHER))
        return Failed(kind, name, message, self._undone(before))

    def _undone(self, before: TransactionState) -> Undone:
        if before is TransactionState.FAILED:
            return Undone.NOTHING
        if before is TransactionState.OPEN and self.transaction is not TransactionState.OPEN:
            return Undone.TRANSACTION
        return Undone.STATEMENT

    def _ask_state(self, may_have_ended: bool) -> TransactionState:
        """Where the transaction stands after an error. Asked without touching the database if it can be,
        because a look into it would fix the snapshot of a transaction that has not begun to read."""
        try:
            self._connection.execute("SELECT 1")
            if may_have_ended and self._transaction_id() != self._transaction_id():
                return TransactionState.NONE
        except self._driver.Error:
            return TransactionState.FAILED
        return TransactionState.OPEN

    def _transaction_id(self) -> int:
        """The same twice within a transaction, never the same outside of one."""
        return int(self._connection.execute("SELECT txid_current()").fetchone()[0])

    def renew(self) -> None:
        self._connection.close()
        self._connection = self._connect()
        self.transaction = TransactionState.NONE

    def close(self) -> None:
        self.alive = False
        self.transaction = TransactionState.NONE
        with suppress(self._driver.Error):  # closing never fails, whatever became of the database
            self._connection.close()


class DuckDBTarget(InProcessTarget):
    """One database file, opened once; sessions are connections within this process."""

    dbms = "duckdb"
    levels = (Level.SNAPSHOT,)
    default_level = Level.SNAPSHOT
    dialect = "duckdb"

    private_schema: ClassVar[str] = PRIVATE_SCHEMA

    def __init__(
        self, path: Path | None, label: str, limit_s: float = STATEMENT_LIMIT_S, *, keep: bool = False
    ) -> None:
        self._driver = self._load_driver()
        self.version = self._driver.__version__
        self._database: Any = None
        self._no_macros = False
        self._watchdog = Watchdog(limit_s)
        self._in_memory = _folder_in_memory() if path is None else None
        if self._in_memory is not None:
            path = Path(self._in_memory.name, "private.db")
        try:
            super().__init__(path, label, limit_s, keep=keep)
        except BaseException:
            self._watchdog.end()
            self._leave_memory()
            raise

    def _load_driver(self) -> ModuleType:
        return load_driver()

    def _is_marked(self, path: Path) -> bool:
        query = f"SELECT count(*) FROM duckdb_schemas() WHERE schema_name = '{PRIVATE_SCHEMA}'"
        try:
            with self._driver.connect(str(path), read_only=True) as connection:
                return bool(connection.execute(query).fetchone()[0])
        except self._driver.Error:
            return False

    def _create(self) -> None:
        self._close_database()
        self._file.remove()
        try:
            self._database = self._driver.connect(str(self._file.path), config=SETTINGS)
            if self.private_schema != "main":
                self._database.execute(f"CREATE SCHEMA {self.private_schema}")
        except self._driver.Error as error:
            raise UsageError(f"{self.label}: cannot create {self._file.path}: {error}") from None
        self._control = self._connect()

    def _reopen(self) -> None:
        self._close_database()
        try:
            self._database = self._driver.connect(str(self._file.path), config=SETTINGS)
        except self._driver.Error as error:
            raise TargetFailedError(f"{self.label}: the database cannot be opened again: {error}") from None
        super()._reopen()

    def _connect(self) -> DuckDBSession:
        return DuckDBSession(self._driver, self._database, self._watchdog, self.private_schema)

    def leave(self) -> None:
        self._watchdog.end()
        super().leave()
        self._close_database()

    def close(self) -> None:
        self._watchdog.end()
        self._close_sessions()
        self._close_database()
        super().close()
        self._leave_memory()

    def _leave_memory(self) -> None:
        if self._in_memory is not None:
            with suppress(OSError):  # a folder that somebody has taken away holds nothing to remove
                self._in_memory.cleanup()

    def _close_database(self) -> None:
        if self._database is not None:
            with suppress(self._driver.Error):  # a damaged database need not close well
                self._database.close()

    def _empty(self) -> None:
        others = self._ask(
            "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database()"
            " AND NOT internal AND schema_name <> 'main'"
        )
        for (name,) in others.rows:
            self._demand(f"DROP SCHEMA {quote(str(name))} CASCADE")
        self._demand(f"CREATE SCHEMA {PRIVATE_SCHEMA}")
        self._demand(f"USE {PRIVATE_SCHEMA}")  # dropping a schema takes it out of the session's search path

    def build(self, statements: Sequence[str]) -> None:
        super().build(statements)
        self._no_macros = not any(map(_MAKES_MACRO.search, statements))

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        # A table refers only to older ones, and names come in no such order: delete the newest first.
        for table in self._newest_first(tables) if len(tables) > 1 else tables:
            self._demand(f"DELETE FROM {quote(table)}")
        for statement in statements:
            self._demand(statement)

    def _newest_first(self, tables: Iterable[str]) -> list[str]:
        listed = self._ask(
            f"SELECT table_name FROM duckdb_tables() WHERE schema_name = '{PRIVATE_SCHEMA}'"
            " ORDER BY table_oid DESC"
        )
        wanted = set(tables)
        return [str(name) for (name,) in listed.rows if name in wanted]

    def schema(self) -> Schema:
        where = f"WHERE schema_name = '{PRIVATE_SCHEMA}'"
        tables = self._ask(f"SELECT table_name, sql FROM duckdb_tables() {where} ORDER BY table_name").rows
        columns = self._ask(
            "SELECT table_name, column_name, data_type, is_nullable, column_default, is_generated"
            f" FROM duckdb_columns() {where} ORDER BY table_name, column_index"
        ).rows
        constraints = self._ask(
            "SELECT table_name, constraint_type, constraint_name, expression, referenced_table,"
            " to_json(constraint_column_names), to_json(referenced_column_names)"
            f" FROM duckdb_constraints() {where} AND constraint_type <> 'NOT NULL'"
            " ORDER BY table_name, constraint_index"
        ).rows
        indexes = self._ask(
            f"SELECT table_name, index_name, sql, is_unique FROM duckdb_indexes() {where}"
            " ORDER BY table_name, index_name"
        ).rows
        views = self._ask(f"SELECT view_name FROM duckdb_views() {where} AND NOT internal ORDER BY 1").rows
        return Schema(
            tables=tuple(
                _table(
                    str(name),
                    read_table(str(sql)),
                    [row[1:] for row in columns if row[0] == name],
                    [row[1:] for row in constraints if row[0] == name],
                    [row[1:] for row in indexes if row[0] == name],
                )
                for name, sql in tables
            ),
            views=tuple(str(name) for (name,) in views),
            functions=self._functions(where),
        )

    def _functions(self, where: str) -> tuple[str, ...]:
        """Macros, looked for only where there can be some: the list of all functions takes 20 ms."""
        no_macros, self._no_macros = self._no_macros, False  # from here on others may make some
        if no_macros:
            return ()
        listed = self._ask(
            f"SELECT DISTINCT function_name FROM duckdb_functions() {where} AND NOT internal ORDER BY 1"
        )
        return tuple(str(name) for (name,) in listed.rows)


PARTIAL_CATALOGUE = "catalogue"
"""The setting that says that the schema is known in part only, so that nothing can be judged by it."""


class EarlierDuckDBTarget(DuckDBTarget):
    """A release before 2.0: everything happens in the schema `main`, and of tables only names, columns and
    keys are told. Its file is always one that acidtest made for it."""

    private_schema = "main"

    def _load_driver(self) -> ModuleType:
        import duckdb  # noqa: PLC0415

        found: ModuleType = duckdb
        return found

    def _is_marked(self, path: Path) -> bool:
        return path.is_file()

    def _empty(self) -> None:
        self._close_sessions()
        self._create()

    def _newest_first(self, tables: Iterable[str]) -> list[str]:
        wanted = set(tables)
        listed = self._ask("SELECT name FROM sqlite_master WHERE type = 'table'").rows  # as they were made
        return [str(name) for (name,) in reversed(listed) if name in wanted]

    def settings(self) -> Mapping[str, str]:
        return {PARTIAL_CATALOGUE: "partial"}

    def schema(self) -> Schema:
        names = self._ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").rows
        return Schema(tables=tuple(self._known_table(str(name)) for (name,) in names))

    def _known_table(self, name: str) -> Table:
        rows = self._ask(f"PRAGMA table_info({quote(name)})").rows
        columns = tuple(
            Column(str(row[1]), str(row[2]), not row[3], None if row[4] is None else str(row[4]))
            for row in rows
        )
        key = tuple(str(row[1]) for row in rows if row[5])
        return Table(name, columns, (Index(f"{name}_pkey", key, unique=True, primary=True),) if key else ())


def AnyDuckDBTarget(
    path: Path | None, label: str, limit_s: float = STATEMENT_LIMIT_S, *, keep: bool = False
) -> DuckDBTarget:
    """The target for whatever release is imported."""
    import duckdb  # noqa: PLC0415

    is_early = int(duckdb.__version__.split(".")[0]) < OLDEST_MAJOR_VERSION
    kind = EarlierDuckDBTarget if is_early else DuckDBTarget
    return kind(path, label, limit_s, keep=keep)


def _table(
    name: str, text: TableText, columns: list[Row], constraints: list[Row], indexes: list[Row]
) -> Table:
    keys, foreign_keys, checks = [], [], []
    for kind, constraint, expression, referenced, own, references in constraints:
        columns_of = tuple(json.loads(str(own)))
        if kind in ("PRIMARY KEY", "UNIQUE"):
            primary = kind == "PRIMARY KEY"
            suffix = "pkey" if primary else f"{'_'.join(columns_of)}_key"
            keys.append(Index(f"{name}_{suffix}", columns_of, unique=True, primary=primary))
        elif kind == "FOREIGN KEY":
            target = tuple(json.loads(str(references)))
            foreign_keys.append(ForeignKey(str(constraint), columns_of, str(referenced), target))
        elif kind == "CHECK":
            checks.append(Check(str(constraint), str(expression)))
    return Table(
        name=name,
        columns=tuple(_column(row, text) for row in columns),
        indexes=(*keys, *map(_index, indexes)),
        foreign_keys=tuple(foreign_keys),
        checks=tuple(checks),
    )


def _index(row: Row) -> Index:
    name, sql, unique = row
    return Index(str(name), tuple(map(unquote, read_index(str(sql)).keys)), bool(unique))


def _folder_in_memory() -> tempfile.TemporaryDirectory[str] | None:
    """A folder for a temporary database whose COMMITs wait for no disk, if there is room for one."""
    try:
        if shutil.disk_usage(MEMORY).free < MEMORY_BYTES_MIN:
            return None
        _sweep(MEMORY)
        return tempfile.TemporaryDirectory(prefix=f"acidtest-{os.getpid()}-", dir=MEMORY)
    except OSError:  # not every system has one, or lets us in
        return None


def _sweep(parent: Path) -> None:
    """Remove what processes left there that were killed: it takes memory."""
    for folder in parent.glob("acidtest-*-*"):
        owner = folder.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists() and folder.stat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def _column(row: Row, table: TableText) -> Column:
    name, type_, nullable, default, generated = row
    text = None if default is None else str(default)
    counts = text is not None and "nextval" in text
    return Column(
        name=str(name),
        type=str(type_),
        nullable=bool(nullable),
        default=None if generated else text,
        generated=bool(generated),
        auto_increment=counts,
        collation=table.collations.get(str(name)),
        expression=text if generated else None,
    )


def _plain(row: Iterable[Any]) -> Row:
    return tuple(value if type(value) in _PLAIN else _value(value) for value in row)


def _value(value: Any) -> Value:
    """Dates and numbers stay; nested and unusual types become text, and so does NaN, to equal itself."""
    if value != value:  # noqa: PLR0124
        return "NaN"
    return value if isinstance(value, Value) else str(value)
