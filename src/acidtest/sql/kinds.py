"""What a statement does to the transaction, the session and the schema, told from a look at its words.

The executor asks this of every statement it sends, so it is no parse: most statements are decided by
their first word. Where a look cannot tell, the answer is the careful one. Not seen at all: what a
function or trigger of the case's own does, and counters (AUTO_INCREMENT, LAST_INSERT_ID).
"""

import re
from enum import StrEnum
from functools import lru_cache

from acidtest.sql.split import MYSQL, STANDARD, Rules, TokenKind, UnterminatedError, split_script, tokens


class StatementKind(StrEnum):
    """Kinds that the executor and the targets have to tell apart."""

    BEGIN = "begin"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    SAVEPOINT = "savepoint"  # SAVEPOINT, ROLLBACK TO, RELEASE
    QUERY = "query"
    WRITE = "write"
    DDL = "ddl"
    SESSION = "session"  # SET and others that outlive the transaction in the session
    OTHER = "other"


_KINDS = {
    word: kind
    for kind, words in {
        StatementKind.BEGIN: "BEGIN",
        StatementKind.COMMIT: "COMMIT END",
        StatementKind.ROLLBACK: "ROLLBACK ABORT",
        StatementKind.SAVEPOINT: "SAVEPOINT RELEASE",
        StatementKind.QUERY: "SELECT VALUES TABLE SHOW EXPLAIN DESCRIBE DESC FROM SUMMARIZE PIVOT FETCH WITH",
        StatementKind.WRITE: "INSERT UPDATE DELETE REPLACE MERGE",
        StatementKind.DDL: "CREATE ALTER DROP TRUNCATE RENAME COMMENT GRANT REVOKE",
        StatementKind.SESSION: (
            "SET RESET PRAGMA LOCK UNLOCK PREPARE DEALLOCATE DECLARE CLOSE HANDLER USE ATTACH DETACH "
            "LISTEN UNLISTEN DISCARD"
        ),
    }.items()
    for word in words.split()
}

# White space, comments, opening parentheses, and the opening of a MySQL code comment, whose code counts.
_LEAD = r"(?:\s|/\*M?![0-9]*|/\*.*?\*/|--[^\n]*\n|\#[^\n]*\n|\()*+"
_FIRST_WORDS = re.compile(rf"{_LEAD}([A-Za-z]+)(?:(?:\s|/\*.*?\*/)++([A-Za-z]+))?", re.DOTALL)

# Kinds decided by the first two words; what is not here goes by its first word.
_PAIRS = {
    ("START", "TRANSACTION"): StatementKind.BEGIN,
    ("BEGIN", "NOT"): StatementKind.OTHER,  # MariaDB's BEGIN NOT ATOMIC: a block of any statements
    ("XA", "START"): StatementKind.BEGIN,
    ("XA", "BEGIN"): StatementKind.BEGIN,
    ("XA", "COMMIT"): StatementKind.COMMIT,
    ("XA", "ROLLBACK"): StatementKind.ROLLBACK,
    ("XA", "END"): StatementKind.SESSION,
    ("XA", "PREPARE"): StatementKind.SESSION,
    ("XA", "RECOVER"): StatementKind.QUERY,
    # Two-phase commit of PostgreSQL: acts on another transaction than the session's own, or parts with it.
    ("PREPARE", "TRANSACTION"): StatementKind.OTHER,
    ("COMMIT", "PREPARED"): StatementKind.OTHER,
    ("ROLLBACK", "PREPARED"): StatementKind.OTHER,
}

_SESSION_FUNCTIONS = (
    r"GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|set_config|setseed|nextval|setval"
    r"|pg_(?:try_)?advisory_lock(?:_shared)?|pg_advisory_unlock\w*"
)
_SESSION_CALL = re.compile(
    rf"\b(?:{_SESSION_FUNCTIONS})\s*\(|\bLAST_INSERT_ID\s*\(\s*[^\s)]|@[^\s:]*\s*:=", re.IGNORECASE
)
_SEQUENCE_CALL = re.compile(r"\b(?:nextval|setval)\s*\(", re.IGNORECASE)
_INTO = re.compile(r"\bINTO\s+(@|\w+)?", re.IGNORECASE)
_WRITE_IN_QUERY = re.compile(r"[()]\s*(?:INSERT|UPDATE|DELETE|MERGE|REPLACE)\b(?!\s*\()", re.IGNORECASE)
_ANALYZED_WRITE = re.compile(
    r"\bANALY[ZS]E\b.*?(?<!\bFOR\s)(?<!\bKEY\s)\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE)\b(?!\s*\()",
    re.IGNORECASE | re.DOTALL,
)
_TO_SAVEPOINT = re.compile(
    rf"{_LEAD}ROLLBACK(?:\s+(?:WORK|TRANSACTION|TRAN))?\s+TO\b", re.IGNORECASE | re.DOTALL
)
_TEMPORARY = re.compile(r"\bTEMP(?:ORARY)?\b", re.IGNORECASE)

# A cheap look first, in lower case: a statement without any of these need not be read closely.
_TRACES = (":=", "lock", "set_config", "setseed", "nextval", "setval", "last_insert_id")
_MORE_THAN_QUERY = (*_TRACES, "into", "insert", "update", "delete", "merge", "replace")


@lru_cache(maxsize=4096)
def kind_of(sql: str) -> StatementKind:
    """The kind of a statement; what is not known is OTHER, and treated as if it could do anything."""
    match = _FIRST_WORDS.match(sql)
    if match is None or is_script(sql):
        return StatementKind.OTHER
    first, second = match[1].upper(), (match[2] or "").upper()
    if (first, second) in _PAIRS:
        return _PAIRS[first, second]
    kind = _KINDS.get(first, StatementKind.OTHER)
    if kind is StatementKind.ROLLBACK and _TO_SAVEPOINT.match(_code_of(sql)):
        return StatementKind.SAVEPOINT
    if kind is StatementKind.QUERY and _mentions(sql, _MORE_THAN_QUERY):
        return _kind_of_query(_code_of(sql), explained=first in ("EXPLAIN", "DESCRIBE", "DESC"))
    return kind


@lru_cache(maxsize=4096)
def is_script(sql: str) -> bool:
    """Whether the text holds several statements."""
    if ";" not in sql:
        return False
    for rules in _likely_rules(sql):
        try:
            return len(split_script(sql, rules)) > 1
        except UnterminatedError:
            continue
    return False


def is_ddl(sql: str) -> bool:
    """Whether the statement defines, changes or drops objects (many DBMSs then commit implicitly)."""
    return kind_of(sql) is StatementKind.DDL


@lru_cache(maxsize=4096)
def may_leave_session_traces(sql: str) -> bool:
    """Whether the session, beyond its transaction, may differ afterwards and needs a thorough reset."""
    kind = kind_of(sql)
    if kind in (StatementKind.SESSION, StatementKind.OTHER):
        return True
    if kind is StatementKind.DDL:
        return _TEMPORARY.search(_code_of(sql)) is not None
    if kind in (StatementKind.QUERY, StatementKind.WRITE):
        return _mentions(sql, _TRACES) and _SESSION_CALL.search(_code_of(sql)) is not None
    return _is_xa(sql)


@lru_cache(maxsize=4096)
def may_change_schema(sql: str) -> bool:
    """Whether refilling the tables may not be enough to restore the database, sequences included."""
    kind = kind_of(sql)
    if kind in (StatementKind.DDL, StatementKind.OTHER):
        return True
    return _mentions(sql, _TRACES) and _SEQUENCE_CALL.search(_code_of(sql)) is not None


def _mentions(sql: str, signs: tuple[str, ...]) -> bool:
    # FOR UPDATE is in many queries, and makes none of them a write.
    text = sql.lower().replace("for update", "")
    return any(sign in text for sign in signs)


def _kind_of_query(code: str, explained: bool) -> StatementKind:
    """The kind of a statement that begins like a query and may be more; `code` has no strings or comments."""
    if explained:
        return StatementKind.WRITE if _ANALYZED_WRITE.search(code) else StatementKind.QUERY
    if _WRITE_IN_QUERY.search(code):
        return StatementKind.WRITE
    if into := _INTO.search(code):
        word = (into[1] or "").upper()
        if word == "@":
            return StatementKind.SESSION
        return StatementKind.OTHER if word in ("OUTFILE", "DUMPFILE") else StatementKind.DDL
    return StatementKind.SESSION if _SESSION_CALL.search(code) else StatementKind.QUERY


def _is_xa(sql: str) -> bool:
    match = _FIRST_WORDS.match(sql)
    return match is not None and match[1].upper() == "XA"


def _code_of(sql: str) -> str:
    """The text with quoted parts as '' and comments as a space; the text itself where it cannot be read."""
    for rules in _likely_rules(sql):
        try:
            return "".join(_CODE.get(token.kind, token.text) for token in tokens(sql, rules))
        except UnterminatedError:
            continue
    return sql


def _likely_rules(sql: str) -> tuple[Rules, Rules]:
    return (MYSQL, STANDARD) if "\\" in sql or "/*" in sql else (STANDARD, MYSQL)


_CODE = {
    TokenKind.QUOTED: "''",
    TokenKind.SPACE: " ",
    TokenKind.LINE_COMMENT: " ",
    TokenKind.BLOCK_COMMENT: " ",
}
