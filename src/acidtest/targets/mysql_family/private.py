"""The private database: made and marked, emptied, refilled, dropped. Nothing else is touched."""

import secrets
from collections.abc import Iterable, Sequence
from itertools import chain

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Row, Schema, State, freeze_state, sort_rows
from acidtest.targets.mysql_family.catalog import (
    MARKER_TABLE,
    TABLE_TYPES,
    inventory_question,
    quote_name,
    quote_text,
    read_schema,
    schema_questions,
    worth_asking,
)
from acidtest.targets.mysql_family.replies import Refused, Result, ResultSet
from acidtest.targets.mysql_family.wire import Wire

PREFIX = "acidtest_"
_CHECKS_OFF = "SET FOREIGN_KEY_CHECKS = 0"
_CHECKS_ON = "SET FOREIGN_KEY_CHECKS = 1"
_DUPLICATE_KEY = 1062


class PrivateDatabase:
    """A database of a random name, so that two runs side by side never meet. Speaks on one connection."""

    def __init__(self, wire: Wire, has_events: bool, foreign_keys: bool) -> None:
        self.name = PREFIX + secrets.token_hex(8)
        self._wire = wire
        self._has_events = has_events
        self._checks = True  # of foreign keys, on our connection
        self._made_by: Sequence[str] | None = (
            None  # the statements that all objects stem from, if that is sure
        )
        self._ask_all(
            f"CREATE DATABASE {quote_name(self.name)} CHARACTER SET utf8mb4",
            f"USE {quote_name(self.name)}",
            f"CREATE TABLE {MARKER_TABLE} (made_by VARCHAR(20))",
            f"INSERT INTO {MARKER_TABLE} VALUES ('acidtest')",
        )
        (tells,) = self._rows(inventory_question())
        known = frozenset((str(table), str(column)) for table, column in tells)
        self._questions = schema_questions(self.name, known, foreign_keys)

    def speak_on(self, wire: Wire) -> None:
        """Go on with another connection, after the server was started again on the same data."""
        self._wire = wire
        self._checks = True
        self._made_by = None
        self._ask_all(f"USE {quote_name(self.name)}")

    def clear(self) -> None:
        """Drop everything but the marker."""
        self._checks = True
        self._ask_all(f"USE {quote_name(self.name)}", _CHECKS_OFF, *self._drops(), _CHECKS_ON)

    def build(self, statements: Sequence[str]) -> None:
        """Run the statements one by one."""
        for sql in statements:
            self._accept(sql, self._wire.ask(sql)[-1])
        self._made_by = statements
        # The statements may have changed what our own next questions rely on.
        self._ask_all("COMMIT", f"USE {quote_name(self.name)}", _CHECKS_ON, "SET autocommit = 1")

    def refill(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        """New rows in one round trip, as one transaction. Checks of foreign keys then stay off: only what a
        rebuild runs has to be checked."""
        deletes = [f"DELETE FROM {quote_name(table)}" for table in tables]
        before = [*([_CHECKS_OFF] if self._checks else ()), "BEGIN", *deletes]
        results = self._wire.ask(_joined((*before, *statements, "COMMIT")))
        if isinstance(results[-1], Refused):
            at = len(results) - 1 - len(before)
            self._ask_all("ROLLBACK")
            if 0 <= at < len(statements):
                self._accept(statements[at], results[-1])
            if statements and results[-1].errno == _DUPLICATE_KEY:  # TiDB's optimistic COMMIT finds it
                self._accept(statements[-1], results[-1])
            raise self._failed("emptying the tables", results[-1])
        self._checks = False

    def schema(self) -> Schema:
        """The tables as the server describes them."""
        questions = self._questions
        if self._made_by is not None:
            questions = worth_asking(questions, self._made_by)
            self._made_by = None  # from here on others may change it
        answers = self._rows(_joined(questions.values()))
        return read_schema(dict(zip(questions, answers, strict=True)))

    def state(self, tables: Sequence[str]) -> State:
        """The committed rows of the tables, in one round trip."""
        if not tables:
            return freeze_state({})
        question = _joined(f"SELECT * FROM {quote_name(self.name)}.{quote_name(table)}" for table in tables)
        answers = self._rows(question)
        return freeze_state({table: sort_rows(rows) for table, rows in zip(tables, answers, strict=True)})

    def _drops(self) -> list[str]:
        own = quote_text(self.name)
        events = f";SELECT EVENT_NAME, 'EVENT' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = {own}"
        answers = self._rows(
            "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES "
            f"WHERE TABLE_SCHEMA = {own} AND TABLE_NAME <> {quote_text(MARKER_TABLE)};"
            "SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES "
            f"WHERE ROUTINE_SCHEMA = {own}" + (events if self._has_events else "")
        )
        drops = []
        for name, kind in chain.from_iterable(answers):
            thing = "TABLE" if kind in TABLE_TYPES else kind
            drops.append(f"DROP {thing!s} IF EXISTS {quote_name(str(name))}")
        return drops

    def _accept(self, sql: str, result: Result) -> None:
        if isinstance(result, Refused):
            raise UsageError(
                f"{self._wire.label} refuses a set-up statement: {sql!r}: {result.message} ({result.errno})"
            )

    def _rows(self, question: str) -> list[tuple[Row, ...]]:
        results = self._wire.ask(question)
        if isinstance(results[-1], Refused):
            raise self._failed("reading the private database", results[-1])
        return [result.rows for result in results if isinstance(result, ResultSet)]

    def _ask_all(self, *statements: str) -> None:
        last = self._wire.ask(_joined(statements))[-1]
        if isinstance(last, Refused):
            raise self._failed("preparing the private database", last)

    def _failed(self, what: str, refused: Refused) -> TargetFailedError:
        return TargetFailedError(f"{self._wire.label}: {what} failed: {refused.message} ({refused.errno})")


def drop_marked(wire: Wire, name: str) -> None:
    """Drop a database, if it bears the mark."""
    marked = wire.ask(f"SELECT made_by FROM {quote_name(name)}.{MARKER_TABLE}")[-1]
    if isinstance(marked, ResultSet) and marked.rows == (("acidtest",),):
        wire.ask(f"DROP DATABASE {quote_name(name)}")


def _joined(statements: Iterable[str]) -> str:
    # On lines of their own, so that a comment at the end of one statement does not swallow the next.
    return "\n;\n".join(statements)
