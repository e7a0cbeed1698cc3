"""A run as a timeline: a lane for each session, and what happened in the order in which it was observed."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from acidtest.casefile import format_outcome
from acidtest.model import Affected, EventKind, History, Omitted, Record
from acidtest.report.document import Grid, grid
from acidtest.report.observed import brief
from acidtest.sql import StatementKind, kind_of


class EntryKind(StrEnum):
    """What can stand in a lane."""

    SENT = "sent"
    WAITS = "waits"
    RESUMED = "resumed"
    RESULT = "result"
    UNDONE = "undone"
    OMITTED = "omitted"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened to a step of a session."""

    session: str
    step: int
    kind: EntryKind
    text: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes by name, and entries in observed order."""

    sessions: tuple[str, ...]
    entries: tuple[Entry, ...]


def timeline(history: History) -> Timeline:
    """The timeline of a run."""
    sessions = tuple(dict.fromkeys(record.session for record in history.records))
    return Timeline(sessions, tuple(_entries(history)))


def _entries(history: History) -> Iterator[Entry]:
    for event in history.events:
        record = history.records[event.step]
        match event.kind:
            case EventKind.LAUNCHED:
                kind, text = EntryKind.SENT, " ".join(record.sql.split())
            case EventKind.BLOCKED:
                kind, text = EntryKind.WAITS, f"waits for {', '.join(event.by)}" if event.by else "waits"
            case EventKind.RESUMED:
                by = "" if event.cause is None else f" by {brief(history, event.cause)}"
                kind, text = EntryKind.RESUMED, f"resumed{by}"
            case EventKind.COMPLETED:
                kind, text = EntryKind.RESULT, _result(record)
            case EventKind.ABORTED:
                kind, text = EntryKind.UNDONE, "its transaction was undone"
        yield Entry(event.session, event.step, kind, text)
    for record in history.records:
        if isinstance(record.outcome, Omitted):
            yield Entry(record.session, record.step, EntryKind.OMITTED, f"{record.sql}: omitted")


def _result(record: Record) -> str:
    silent = isinstance(record.outcome, Affected) and kind_of(record.sql) is not StatementKind.WRITE
    return "ok" if silent else format_outcome(record.outcome)


def as_grid(line: Timeline) -> Grid:
    """A column for each session. What follows at once in the same lane stands in one cell."""
    rows: list[tuple[str, list[str]]] = []
    for entry in line.entries:
        if rows and rows[-1][0] == entry.session and entry.kind is not EntryKind.SENT:
            rows[-1][1].append(entry.text)
        else:
            rows.append((entry.session, [entry.text]))
    cells = (
        ["; ".join(texts) if session == lane else "" for lane in line.sessions] for session, texts in rows
    )
    return grid(line.sessions, cells)
