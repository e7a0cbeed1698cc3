"""Scratch tables: the tables of a case in a private database of their own, holding just the rows asked for.

Rows are brought in by difference, in one round trip, and the tables stay as long as the schema does.
"""

import re
import select
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Affected, ErrorKind, Failed, History, Row, Rows, Schema, Table
from acidtest.oracles.engines.base import UndecidedError
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.rendering import delete_rows, insert_rows, quote_name
from acidtest.targets import Session, Target

Contents = Mapping[str, Sequence[Row]]

ANSWER_LIMIT_S = 30.0
FILLS_BETWEEN_RENEWALS = 100
"""So often tables are filled from nothing, because some servers leave deleted rows lying about for long."""

_ACTS_BY_ITSELF = re.compile(r"\bCREATE\b.*\b(TRIGGER|RULE)\b", re.IGNORECASE | re.DOTALL)

_OF_THE_SERVER = re.compile(
    r"\s*(?:CREATE|ALTER|DROP|GRANT|REVOKE)\b.*\b"
    r"(?:ROLE|USER|GROUP|DATABASE|SCHEMA|TABLESPACE|SERVER|SUBSCRIPTION|SYSTEM|FOREIGN\s+DATA\s+WRAPPER|EXTENSION)\b"
    r"|\s*SET\s+(?:GLOBAL|PERSIST)\b|\s*SET\s+@@global\b",
    re.IGNORECASE | re.DOTALL,
)


class UnfitError(Exception):
    """Rows that cannot stand together in a table, because they break a constraint of it."""


class Scratch:
    """One database on the target's server, with one session. `loose`: tables without any constraint."""

    def __init__(self, target: Target, loose: bool = False) -> None:
        self.target = target.sibling()
        self.schema = Schema()
        self.verifies = False
        """Whether what was brought in is read back and compared: slow, and done before an alarm is raised."""
        self._loose = loose
        self._session: Session | None = None
        self._built: tuple[Sequence[str], Schema] | None = None
        self._held: dict[str, tuple[Row, ...] | None] = {}
        self._fills = 0

    def prepare(self, history: History) -> None:
        """Have the tables of the history's case, whatever is in them."""
        if history.origin is None:
            raise UndecidedError("a history without a set-up")
        setup = list(history.setup)
        definitions = [sql for sql in setup if kind_of(sql) is not StatementKind.WRITE]
        if self._built == (definitions, history.schema):
            return
        if any(map(_ACTS_BY_ITSELF.search, definitions)):
            raise UndecidedError("triggers and rules")
        if any(map(_OF_THE_SERVER.match, definitions)):
            raise UndecidedError("a set-up that reaches beyond its own database")
        self._built = None
        self._build(setup, history.schema)
        self._built = (definitions, history.schema)

    def hold(self, contents: Contents) -> None:
        """Make these tables hold just these rows. Raises `UnfitError` if a constraint is in the way."""
        self._fills += 1
        if self._fills % FILLS_BETWEEN_RENEWALS == 0:
            self.forget()
        contents = self._with_linked(contents)
        emptied: list[str] = []
        deletes: list[str] = []
        inserts: list[str] = []
        for table in parents_first(self.schema):
            if table.name in contents:
                plan = self._difference(table, contents[table.name])
                emptied = [*plan[0], *emptied]
                deletes = [*plan[1], *deletes]
                inserts += plan[2]
        if emptied or deletes or inserts:
            self._refill(contents, emptied, [*deletes, *inserts])
        if self.verifies:
            self._verify(contents)

    def run(self, sql: str) -> Rows | Affected | Failed:
        """Run a statement, autocommitted unless the statements before it began a transaction."""
        session = self._open_session()
        session.launch(sql)
        reply = session.poll()
        if reply is None:
            poller = select.poll()
            poller.register(session, select.POLLIN)
            deadline = monotonic() + ANSWER_LIMIT_S
            while (reply := session.poll()) is None:
                if monotonic() > deadline:
                    raise TargetFailedError(f"{self.target.label}: {sql!r} takes too long on scratch tables")
                poller.poll(1000)
        if isinstance(reply.outcome, Failed) and reply.outcome.kind is ErrorKind.CONNECTION_LOST:
            raise TargetFailedError(f"{self.target.label}: the scratch session was lost")
        return reply.outcome

    def read(self, tables: Sequence[str]) -> Contents:
        """What the tables hold now, after a statement that may have changed it."""
        state = self.target.state(tables)
        self._held |= state
        return state

    def clean(self) -> None:
        """End a transaction that was left open."""
        self.target.clean(self._open_session(), thorough=False)

    def forget(self) -> None:
        """Trust nothing that stands in the tables."""
        self._held = dict.fromkeys(self._held)

    def close(self) -> None:
        """Drop the database."""
        self.target.close()

    def _open_session(self) -> Session:
        if self._session is None:
            self._session = self.target.open_session()
        return self._session

    def _build(self, setup: Sequence[str], wanted: Schema) -> None:
        dialect = self.target.dialect
        try:
            self.target.rebuild([*setup, *(_loosening(wanted, dialect) if self._loose else ())])
        except UsageError as error:
            raise UndecidedError("a set-up that cannot be run a second time") from error
        self.schema = wanted
        if self._loose:
            bare = [replace(one, indexes=(), foreign_keys=(), checks=()) for one in wanted.tables]
            self.schema = replace(wanted, tables=tuple(bare))
        elif self.target.schema() != wanted:
            raise UndecidedError("the schedule changes the tables")
        self._held = dict.fromkeys(table.name for table in wanted.tables)

    def _difference(self, table: Table, wanted: Sequence[Row]) -> tuple[list[str], list[str], list[str]]:
        """Tables to empty, then deletes, then inserts that lead to the wanted rows."""
        held = self._held[table.name]
        if held is None:
            return [table.name], [], self._insert(table, wanted)
        due = Counter(map(repr, wanted))
        there = Counter(map(repr, held))
        if due == there:
            return [], [], []
        surplus = there - due
        deletes = []
        if surplus:
            delete = delete_rows(table, [row for row in held if repr(row) in surplus], self.target.dialect)
            if delete is None:
                return [table.name], [], self._insert(table, wanted)
            deletes.append(delete)
            there = Counter({row: n for row, n in there.items() if row not in surplus})
        missing = due - there
        rows = [row for row in {repr(row): row for row in wanted}.values() for _ in range(missing[repr(row)])]
        return [], deletes, self._insert(table, rows)

    def _with_linked(self, contents: Contents) -> Contents:
        """Emptying a table or deleting from it may take along rows that refer to it, so tables that foreign
        keys connect are filled together, from nothing, as soon as one of them has to change."""
        linked = linked_tables(self.schema) if set(contents) & linked_tables(self.schema) else set()
        if all(self._holds(name, contents.get(name, ())) for name in linked):
            return contents
        self._held |= dict.fromkeys(linked)
        return {**dict.fromkeys(linked, ()), **contents}

    def _holds(self, name: str, wanted: Sequence[Row]) -> bool:
        held = self._held[name]
        return held is not None and Counter(map(repr, held)) == Counter(map(repr, wanted))

    def _insert(self, table: Table, rows: Sequence[Row]) -> list[str]:
        return [insert_rows(table, rows, self.target.dialect)] if rows else []

    def _refill(self, contents: Contents, emptied: Sequence[str], statements: Sequence[str]) -> None:
        self._held |= dict.fromkeys(contents)
        try:
            self.target.refill(emptied, statements)
        except UsageError as error:
            raise UnfitError(str(error)) from error
        self._held |= {table: tuple(rows) for table, rows in contents.items()}

    def _verify(self, contents: Contents) -> None:
        for table, rows in self.target.state(list(contents)).items():
            if Counter(map(repr, rows)) != Counter(map(repr, contents[table])):
                raise UndecidedError(f"rows of {table} do not survive being written as SQL")


def parents_first(schema: Schema) -> list[Table]:
    """The tables in an order in which foreign keys find what they refer to, as far as there is one."""
    ordered: list[Table] = []
    left = list(schema.tables)
    while left:
        names = {table.name for table in left}
        free = [
            one for one in left if not {key.table for key in one.foreign_keys} & (names - {one.name})
        ] or left[:1]
        ordered += free
        left = [one for one in left if one not in free]
    return ordered


def connected_tables(schema: Schema, table: str) -> tuple[str, ...]:
    """The tables that foreign keys connect with one, and those that they connect with these; none if none."""
    found, new = {table}, {table}
    links = [(one.name, key.table) for one in schema.tables for key in one.foreign_keys]
    while new:
        new = {name for link in links if found & set(link) for name in link} - found
        found |= new
    return tuple(sorted(found)) if table in linked_tables(schema) else ()


def linked_tables(schema: Schema) -> set[str]:
    """The tables that have foreign keys, and those that they refer to."""
    links = ((one.name, key.table) for one in schema.tables for key in one.foreign_keys)
    return {name for link in links for name in link}


def _loosening(schema: Schema, dialect: str) -> list[str]:
    """Statements that put a copy without constraints in the place of each table."""
    statements = []
    for table in reversed(parents_first(schema)):
        name, copy = quote_name(table.name, dialect), quote_name(f"{table.name}_loose", dialect)
        statements += [
            f"CREATE TABLE {copy} AS SELECT * FROM {name} WHERE 1 = 0",
            f"DROP TABLE {name}",
            f"ALTER TABLE {copy} RENAME TO {name}",
        ]
    return statements
