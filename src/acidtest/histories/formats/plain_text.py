"""Text histories of registers: Plume's (also PolySI's and IsoVista's), AWDIT's, and DBCop's short form.

Sessions are known and times are not. In Plume's and DBCop's the value 0 is what every key holds at first,
unless somebody writes it.
"""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.histories.columns import ABORTED, COMMITTED, READ, WRITE, Batch, Source, Workload
from acidtest.histories.formats.text import CHUNK, chunks

# -- Plume: r(key,value,session,transaction), a line each

_PLUME = re.compile(
    rb"[ \t]*([rw])\([ \t]*(-?\d+)[ \t]*,[ \t]*(-?\d+)[ \t]*,[ \t]*(-?\d+)[ \t]*,[ \t]*(-?\d+)[ \t]*\)\s*"
)
_ABORTED_TRANSACTION = -1
_OWNER = itemgetter(3, 4)


def open_plume(path: Path) -> Source:
    """A history in Plume's form. A transaction -1 is one aborted write."""
    return Source(path, "plume", Workload.REGISTERS, lambda: _read_plume(path), initial=0)


def _read_plume(path: Path) -> Iterator[Batch]:
    sessions: dict[int, int] = {}
    ended: dict[int, set[int]] = {}
    held: list[list[int]] = []
    line = 1
    for at, data in chunks(path, CHUNK):
        rows = held + _plume_rows(data, at, str(path))
        last = rows[-1][3:] if rows else []
        cut = len(rows)
        while cut and rows[cut - 1][3:] == last:
            cut -= 1
        held = rows[cut:]
        batch = Batch()
        line = _group(rows[:cut], line, sessions, ended, batch, str(path))
        yield batch
    batch = Batch()
    _group(held, line, sessions, ended, batch, str(path))
    yield batch


def _plume_rows(data: bytes, line: int, where: str) -> list[list[int]]:
    text = data.replace(b"r(", b"[0,").replace(b"w(", b"[1,").replace(b"\r", b"").replace(b")\n", b"],")
    try:
        rows: list[list[int]] = json.loads(b"[" + text.rstrip(b",\n ").replace(b")", b"]") + b"]")
    except ValueError:
        rows = []
    if rows and len(rows) == data.count(b"\n") + (not data.endswith(b"\n")) and all(map(_is_row, rows)):
        return rows
    return [_plume_row(text, at, where) for at, text in enumerate(data.splitlines(), line) if text.strip()]


def _is_row(row: list[int]) -> bool:
    return len(row) == 5 and row[4].__class__ is int and row[1].__class__ is int


def _plume_row(text: bytes, line: int, where: str) -> list[int]:
    match = _PLUME.fullmatch(text)
    if match is None:
        shown = text[:40].decode("utf-8", "replace")
        raise UsageError(
            f"{where}, line {line}: {shown!r} is not r(key,value,session,transaction) or w(...) with numbers"
        )
    return [int(match[1] == b"w"), *(int(match[at]) for at in range(2, 6))]


def _group(
    rows: list[list[int]],
    line: int,
    sessions: dict[int, int],
    ended: dict[int, set[int]],
    batch: Batch,
    where: str,
) -> int:
    """Rows as transactions. Those of one transaction stand together."""
    for (session, transaction), group in groupby(rows, _OWNER):
        operations = [row[:3] for row in group]
        place = sessions.setdefault(session, len(sessions))
        if transaction == _ABORTED_TRANSACTION:
            for operation in operations:
                if operation[0] == WRITE:
                    batch.add(ABORTED, place, line, line, line, [operation])
        else:
            seen = ended.setdefault(session, set())
            if transaction in seen:
                raise UsageError(
                    f"{where}, line {line}: transaction {transaction} of session {session} goes on after "
                    "another one began; its operations have to stand together"
                )
            seen.add(transaction)
            batch.add(COMMITTED, place, line, line, line, operations)
        line += len(operations)
    return line


# -- AWDIT: `r key value`, transactions apart by dashes, sessions by equals signs

_AWDIT = re.compile(r"([rw])\s+(\S+)\s+(\S+)")


def open_awdit(path: Path) -> Source:
    """A history in AWDIT's form for tests."""
    return Source(path, "awdit", Workload.REGISTERS, lambda: _read_awdit(path))


def _read_awdit(path: Path) -> Iterator[Batch]:
    session, began = 0, 1
    operations: list[list[object]] = []
    batch = Batch()
    for at, data in chunks(path, CHUNK):
        for line, raw in enumerate(_decoded(data, at, path).splitlines(), at):
            text = raw.strip()
            if not text:
                continue
            if not text.strip("-") or not text.strip("="):
                if operations:
                    batch.add(COMMITTED, session, began, began, began, operations)
                operations = []
                session += text[0] == "="
                continue
            match = _AWDIT.fullmatch(text)
            if match is None:
                raise UsageError(
                    f"{path}, line {line}: {text[:40]!r} is not `r KEY VALUE`, `w KEY VALUE`, --- or ==="
                )
            if not operations:
                began = line
            operations.append([int(match[1] == "w"), _number(match[2]), _number(match[3])])
        yield batch
        batch = Batch()
    if operations:
        batch.add(COMMITTED, session, began, began, began, operations)
    yield batch


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdecimal() else text


def _decoded(data: bytes, line: int, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + data.count(b"\n", 0, error.start)
        raise UsageError(f"{path}, line {at}: not UTF-8 (convert the file with iconv)") from error


# -- DBCop: [x:=1 y==2 z==?] a transaction, ! behind it if it is not committed, dashes between sessions

_DBCOP_TRANSACTION = re.compile(r"\s*\[([^\[\]]*)\](!?)")
_DBCOP_EVENT = re.compile(r"(\w+)(:=|==)(\d+|\?)")


def open_dbcop_text(path: Path) -> Source:
    """A history in DBCop's short form (.hist)."""
    return Source(path, "dbcop-hist", Workload.REGISTERS, lambda: _read_dbcop_text(path), initial=0)


def _read_dbcop_text(path: Path) -> Iterator[Batch]:
    session = 0
    for at, data in chunks(path, CHUNK):
        batch = Batch()
        for line, raw in enumerate(_decoded(data, at, path).splitlines(), at):
            text = raw.strip()
            if not text or text.startswith("//"):
                continue
            if not text.strip("-"):
                session += 1
                continue
            _dbcop_line(text, line, session, batch, str(path))
        yield batch


def _dbcop_line(text: str, line: int, session: int, batch: Batch, where: str) -> None:
    position = 0
    while position < len(text):
        match = _DBCOP_TRANSACTION.match(text, position)
        if match is None:
            raise UsageError(
                f"{where}, line {line}: {text[position:][:40]!r} is no transaction such as [x:=1 y==2]"
            )
        operations: list[list[object]] = []
        for event in match[1].split():
            parts = _DBCOP_EVENT.fullmatch(event)
            if parts is None or (parts[2] == ":=" and parts[3] == "?"):
                raise UsageError(f"{where}, line {line}: {event!r} is not x:=1, x==1 or x==?")
            value = None if parts[3] == "?" else int(parts[3])
            operations.append([WRITE if parts[2] == ":=" else READ, _number(parts[1]), value])
        fate = ABORTED if match[2] else COMMITTED
        if fate == ABORTED:
            operations = [one for one in operations if one[0] == WRITE]
        batch.add(fate, session, line, line, line, operations)
        position = match.end()
        while position < len(text) and text[position].isspace():
            position += 1
