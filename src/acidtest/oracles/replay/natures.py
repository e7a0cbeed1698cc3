"""What a statement is to the walk, if it is none that works on rows of the case: a look at its words."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from acidtest.claims.characteristics import characteristics_of
from acidtest.claims.settings import changes_nothing, has_one_schema
from acidtest.model import Case
from acidtest.oracles.replay.definitions import NewColumn, definition_of
from acidtest.sql import StatementKind, kind_of


class Nature(StrEnum):
    """How the walk treats a statement."""

    ROWS = "works on rows, or ends and begins transactions"
    HARMLESS = "changes nothing that is judged"
    LOOKS = "changes nothing that is judged, but may open a snapshot"
    SETTING = "says how transactions run"
    TABLE_LOCK = "locks tables"
    ADVISORY = "takes or gives up an advisory lock"
    INDEX = "makes or drops an index"
    TRUNCATE = "empties a table"
    DEFINES = "changes a definition in a way that is known"
    TWO_PHASE = "prepares a transaction, or ends one that was prepared"
    SCRIPT = "is several statements in one message"
    UNKNOWN = "may do anything"


_FIRST = re.compile(r"\s*(?:/\*.*?\*/\s*)*([A-Za-z]+)(?:\s+([A-Za-z]+))?", re.DOTALL)
_SHOWS = frozenset({"SHOW", "DESCRIBE", "DESC", "LISTEN", "UNLISTEN", "NOTIFY", "CHECKPOINT"})
_PREPARES = frozenset({"PREPARE", "DEALLOCATE"})
_KEEPS_UP = frozenset({"ANALYZE", "ANALYSE", "VACUUM", "REINDEX", "CLUSTER", "OPTIMIZE", "CHECKSUM", "CHECK"})
_ANALYZED = re.compile(r"\bANALY[ZS]E\b", re.IGNORECASE)
_VARIABLE = re.compile(
    r"\s*SET\s+(?:(?:SESSION|LOCAL)\s+|@@(?:session\.|local\.)?)?([A-Za-z_][\w.]*)\s*(?:=|:=|\bTO\b)\s*([^,]+)",
    re.IGNORECASE,
)
_RESET = re.compile(r"\s*RESET\s+([A-Za-z_][\w.]*)\s*", re.IGNORECASE)
_PRAGMA = re.compile(r"\s*PRAGMA\s+([A-Za-z_]\w*)\s*(?:=\s*\S+)?\s*", re.IGNORECASE)
_OWN_VARIABLE = re.compile(r"\s*SET\s+@\w+\s*:?=\s*(?:-?\d+(?:\.\d+)?|'[^']*'|NULL)\s*", re.IGNORECASE)
_SLEEPS = re.compile(r"\s*SELECT\s+(?:pg_sleep|sleep)\s*\(\s*[\d.]+\s*\)\s*", re.IGNORECASE)
_MYSQL_LOCKS = re.compile(
    r"\s*SELECT\s+(?:GET_LOCK|RELEASE_LOCK|IS_FREE_LOCK|IS_USED_LOCK|RELEASE_ALL_LOCKS)\s*\([^()]*\)\s*",
    re.IGNORECASE,
)
_PRIVILEGE = re.compile(
    r"\s*(?:(?:GRANT|REVOKE)\b.+|SET\s+(?:SESSION\s+|LOCAL\s+)?ROLE\s+\S+|RESET\s+ROLE)\s*",
    re.IGNORECASE | re.DOTALL,
)
_INDEX = re.compile(
    r"\s*(?:CREATE\s+INDEX|DROP\s+INDEX|ALTER\s+TABLE\s+\S+\s+(?:ADD|DROP)\s+(?:INDEX|KEY)\b)",
    re.IGNORECASE,
)
_ADVISORY = re.compile(
    r"\s*SELECT\s+pg_(?:try_)?advisory_\w+\s*\([^()]*\)(?:\s+(?:AS\s+)?\w+)?\s*", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def nature_of(sql: str, dbms: str, table_locks: bool) -> Nature:
    """What a statement is to the walk on a DBMS; `table_locks`: it has PostgreSQL's LOCK TABLE."""
    match = _FIRST.match(sql)
    first, second = (match[1].upper(), (match[2] or "").upper()) if match else ("", "")
    if characteristics_of(sql) is not None and first == "SET":
        return Nature.SETTING
    if first == "SELECT":
        return _nature_of_query(sql)
    if first in _SHOWS:
        return Nature.HARMLESS
    if two_phase_of(sql) is not None:
        return Nature.TWO_PHASE
    if dbms not in _EMBEDDED and _only_looks(sql, first, second):
        return Nature.LOOKS
    if first in ("SET", "RESET", "PRAGMA"):
        return _nature_of_setting(sql, dbms)
    if first == "LOCK" and table_locks:
        return Nature.TABLE_LOCK
    if _INDEX.match(sql):
        return Nature.INDEX
    if first == "TRUNCATE":
        return Nature.TRUNCATE
    if _is_definition(sql, first, dbms, table_locks):
        return Nature.DEFINES
    of_rows = kind_of(sql) not in (StatementKind.DDL, StatementKind.SESSION, StatementKind.OTHER)
    return Nature.ROWS if of_rows else Nature.UNKNOWN


def _is_definition(sql: str, first: str, dbms: str, table_locks: bool) -> bool:
    if first not in ("ALTER", "CREATE") or not has_one_schema(dbms):
        return False
    found = definition_of(sql)
    return isinstance(found, NewColumn) or (table_locks and found is not None)


_EMBEDDED = ("sqlite", "duckdb")
"""Where it is not known what else than reading and writing takes part in transactions."""


def _only_looks(sql: str, first: str, second: str) -> bool:
    if first == "EXPLAIN":
        return not _ANALYZED.search(sql)
    if first == "FLUSH":
        return not any(word in sql.upper() for word in (" LOCK", "EXPORT"))
    return first in _KEEPS_UP or (first in _PREPARES and second != "TRANSACTION")


def _nature_of_query(sql: str) -> Nature:
    if _ADVISORY.fullmatch(sql):
        return Nature.ADVISORY
    if _SLEEPS.fullmatch(sql):
        return Nature.LOOKS
    if _MYSQL_LOCKS.fullmatch(sql):
        return Nature.HARMLESS
    of_rows = kind_of(sql) in (StatementKind.QUERY, StatementKind.WRITE)
    return Nature.ROWS if of_rows else Nature.UNKNOWN


def _nature_of_setting(sql: str, dbms: str) -> Nature:
    if _OWN_VARIABLE.fullmatch(sql):
        return Nature.HARMLESS
    for pattern in (_VARIABLE, _RESET, _PRAGMA):
        if (match := pattern.fullmatch(sql)) and changes_nothing(dbms, match[1]):
            return Nature.HARMLESS
    return Nature.UNKNOWN


# -- locks

_LOCK_TABLE = re.compile(
    r"\s*LOCK\s+(?:TABLE\s+)?(?:ONLY\s+)?(.+?)(?:\s+IN\s+([A-Z\s]+?)\s+MODE)?(?:\s+NOWAIT)?\s*",
    re.IGNORECASE | re.DOTALL,
)


def locked_tables(sql: str) -> tuple[tuple[str, ...], str] | None:
    """The tables that LOCK TABLE names, as PostgreSQL reads the names, and the mode; None if not readable."""
    match = _LOCK_TABLE.fullmatch(sql)
    if match is None:
        return None
    names = [name.strip().rstrip("*").strip() for name in match[1].split(",")]
    mode = " ".join((match[2] or "ACCESS EXCLUSIVE").upper().split())
    return tuple(name.strip('"') if name.startswith('"') else name.lower() for name in names), mode


@dataclass(frozen=True, slots=True)
class Advisory:
    """A call of an advisory lock's function. `tries`: it does not wait but says whether it got the lock."""

    key: tuple[str, ...]
    shared: bool
    releases: bool
    tries: bool
    of_transaction: bool


_CALL = re.compile(
    r"\s*SELECT\s+pg_(try_)?advisory_(xact_)?(lock|unlock)(_shared|_all)?\s*\(\s*([-\d\s,]*)\)"
    r"(?:\s+(?:AS\s+)?\w+)?\s*",
    re.IGNORECASE,
)


def advisory_call(sql: str) -> Advisory | None:
    """The call, if its key is told by numbers."""
    match = _CALL.fullmatch(sql)
    if match is None:
        return None
    key = tuple(part.strip() for part in match[5].split(",") if part.strip())
    suffix = (match[4] or "").lower()
    return Advisory(
        key,
        shared=suffix == "_shared",
        releases=match[3].lower() == "unlock",
        tries=match[1] is not None,
        of_transaction=match[2] is not None,
    )


# -- two-phase commit


class Phase(StrEnum):
    """What a statement does to a prepared transaction."""

    PREPARE = "PREPARE TRANSACTION"
    COMMIT = "COMMIT PREPARED"
    ROLLBACK = "ROLLBACK PREPARED"


_PHASE = re.compile(
    r"\s*((?:PREPARE\s+TRANSACTION|(?:COMMIT|ROLLBACK)\s+PREPARED))\s+'([^']*)'\s*", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def two_phase_of(sql: str) -> tuple[Phase, str] | None:
    """PostgreSQL's statements of two-phase commit, and the name that they give to the transaction."""
    match = _PHASE.fullmatch(sql)
    return None if match is None else (Phase(" ".join(match[1].upper().split())), match[2])


# -- procedures

_PROCEDURE = re.compile(r"\s*CALL\s+[`\"]?(\w+)", re.IGNORECASE)
_DOES_MORE = re.compile(
    r"\b(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|TRUNCATE|INTO|SET|CALL|EXECUTE|PERFORM|COMMIT|ROLLBACK|START"
    r"|LOCK|SHARE|DROP|ALTER|GRANT)\b",
    re.IGNORECASE,
)


def says_who_may(sql: str, case: Case) -> bool:
    """Whether a statement only says who may do what. To be somebody else may mean other tables where schemas
    are named like roles."""
    schemas = any(re.search(r"\bSCHEMA\b", one.sql, re.IGNORECASE) for one in case.setup)
    return not schemas and _PRIVILEGE.fullmatch(sql) is not None


def calls_reading_procedure(sql: str, case: Case) -> bool:
    """Whether a statement calls a procedure of the set-up that only reads, as far as its words tell."""
    match = _PROCEDURE.match(sql)
    if match is None:
        return False
    definition = re.compile(rf"\s*CREATE\b.*?\bPROCEDURE\s+[`\"]?{match[1]}\b(.*)", re.IGNORECASE | re.DOTALL)
    bodies = [found[1] for one in case.setup if (found := definition.match(one.sql))]
    return len(bodies) == 1 and _DOES_MORE.search(bodies[0]) is None
