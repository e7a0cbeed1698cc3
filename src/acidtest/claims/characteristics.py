"""Statements that say how transactions are to run: BEGIN ISOLATION LEVEL, SET TRANSACTION and their like."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from acidtest.model import Failed, History, Level, Record, TransactionState


class Scope(StrEnum):
    """What such a statement is about."""

    BEGUN = "the transaction that it begins"
    TRANSACTION = "the transaction that is open, or the next one"
    NEXT = "the next transaction"
    SESSION = "all transactions to come"


@dataclass(frozen=True, slots=True)
class Characteristics:
    """How a transaction runs; what is None is left as it is."""

    level: Level | None = None
    read_only: bool | None = None
    deferrable: bool | None = None
    mode: str | None = None
    """TiDB: pessimistic or optimistic."""

    def over(self, other: "Characteristics") -> "Characteristics":
        """These, and the other's where these say nothing."""
        return Characteristics(
            self.level if self.level is not None else other.level,
            self.read_only if self.read_only is not None else other.read_only,
            self.deferrable if self.deferrable is not None else other.deferrable,
            self.mode if self.mode is not None else other.mode,
        )


_BEGIN = re.compile(r"\s*(?:BEGIN|START\s+TRANSACTION)\b(?!\s+NOT\b)(.*)", re.IGNORECASE | re.DOTALL)
_SET = re.compile(
    r"\s*SET\s+(?:(SESSION\s+CHARACTERISTICS\s+AS|SESSION|LOCAL|GLOBAL)\s+)?TRANSACTION\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE = re.compile(
    r"\s*SET\s+(?:(SESSION|LOCAL|GLOBAL)\s+|@@(?:(session|local|global)\.)?)?"
    r"(default_transaction_isolation|transaction_isolation|tx_isolation)\s*(?:=|:=|TO)\s*'?([\w\s-]+?)'?\s*",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"ISOLATION LEVEL (SERIALIZABLE|REPEATABLE READ|READ COMMITTED|READ UNCOMMITTED|SNAPSHOT)"
)


@lru_cache(maxsize=4096)
def characteristics_of(sql: str) -> tuple[Scope, Characteristics] | None:
    """What a statement says about transactions; None if it is no such statement. GLOBAL says nothing of any
    session that is open."""
    if match := _BEGIN.match(sql):
        return Scope.BEGUN, _read(match[1])
    if match := _SET.fullmatch(sql):
        word = " ".join((match[1] or "").upper().split())
        scope = {"": Scope.TRANSACTION, "LOCAL": Scope.TRANSACTION}.get(word, Scope.SESSION)
        return scope, Characteristics() if word == "GLOBAL" else _read(match[2])
    if match := _VARIABLE.fullmatch(sql):
        word = (match[1] or match[2] or "").upper()
        if word == "GLOBAL":
            return Scope.SESSION, Characteristics()
        return _scope_of_variable(sql, word, match[3].lower()), Characteristics(_level(match[4]))
    return None


def _scope_of_variable(sql: str, word: str, name: str) -> Scope:
    if name == "default_transaction_isolation":
        return Scope.SESSION
    if "@@" in sql and not word:
        return Scope.NEXT
    # To PostgreSQL transaction_isolation is the open transaction's, to MySQL the session's.
    return Scope.TRANSACTION if word == "LOCAL" else Scope.SESSION


def _read(text: str) -> Characteristics:
    words = " ".join(text.upper().split())
    found = _LEVEL.search(words)
    return Characteristics(
        _level(found[1]) if found else None,
        True if "READ ONLY" in words else False if "READ WRITE" in words else None,
        False if "NOT DEFERRABLE" in words else True if "DEFERRABLE" in words else None,
        next((mode for mode in ("pessimistic", "optimistic") if mode.upper() in words), None),
    )


def _level(text: str) -> Level | None:
    wanted = " ".join(text.replace("-", " ").replace("_", " ").upper().split())
    return next((level for level in Level if level.value == wanted), None)


@lru_cache(maxsize=4096)
def says_something(sql: str) -> bool:
    """Whether a statement is about how transactions run."""
    said = characteristics_of(sql)
    return said is not None and said[1] != Characteristics()


# -- along a history

_WITHIN_TRANSACTIONS = frozenset({"postgres"})
"""Where SET TRANSACTION is about the transaction that is open; elsewhere it is about the next one."""


def in_force(history: History, session: str) -> Iterator[tuple[Record, Characteristics]]:
    """For each step of a session, how the transaction runs that it belongs to."""
    of_session = Characteristics(history.levels[session])
    of_next, current = Characteristics(), Characteristics()
    for record in history.records:
        if record.session != session:
            continue
        said = None if isinstance(record.outcome, Failed) else characteristics_of(record.sql)
        begins = said is not None and said[0] is Scope.BEGUN
        if begins or record.before is TransactionState.NONE:
            current, of_next = of_next.over(of_session), _after(of_next, record)
        if said is not None:
            scope, told = said
            if scope is Scope.BEGUN or _is_about_open(history, scope, record):
                current = told.over(current)
            elif scope is Scope.SESSION:
                of_session = told.over(of_session)
            elif scope is Scope.NEXT or history.dbms not in _WITHIN_TRANSACTIONS:
                of_next = told.over(of_next)
        yield record, current


def _is_about_open(history: History, scope: Scope, record: Record) -> bool:
    opened = record.before is TransactionState.OPEN
    return scope is Scope.TRANSACTION and opened and history.dbms in _WITHIN_TRANSACTIONS


def _after(of_next: Characteristics, record: Record) -> Characteristics:
    """What is left for the next transaction when a statement has run outside of any; SET is none."""
    return of_next if sets(record.sql) else Characteristics()


def sets(sql: str) -> bool:
    """Whether a statement only sets something."""
    return sql.lstrip()[:4].upper().rstrip() == "SET"
