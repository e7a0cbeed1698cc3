"""Small histories told in a few words, and written down in every format."""

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.histories import Checked, Options, check_file
from acidtest.histories.columns import READ, WRITE, Operations, Workload
from acidtest.histories.generate import HappenedEvent
from acidtest.histories.writing import to_edn, to_json


@dataclass(frozen=True, slots=True)
class Told:
    """A transaction: its session, its fate, and what it did."""

    session: int
    fate: str
    operations: Operations


def told(text: str) -> list[Told]:
    """One transaction a line: `1 ok: w x 1, r y 2`; lists with `a x 1` and `r x [1 2]`."""
    found = []
    for line in text.strip().splitlines():
        head, _, body = line.strip().partition(":")
        session, fate = head.split()
        operations = [_operation(one.strip()) for one in body.split(",") if one.strip()]
        found.append(Told(int(session), fate, operations))
    return found


def _operation(text: str) -> list[Any]:
    kind, key, value = text.split(" ", 2)
    shown: Any = value
    if value == "nil":
        shown = None
    elif value.startswith("["):
        shown = [int(one) for one in value[1:-1].split()]
    else:
        shown = int(value)
    return [READ if kind == "r" else WRITE, key, shown]


def events(transactions: list[Told]) -> Iterator[HappenedEvent]:
    """They run all at once, as far as sessions allow it, and end in the order in which they were told."""
    queues: dict[int, list[Told]] = {}
    for one in transactions:
        queues.setdefault(one.session, []).append(one)
    for session, queue in queues.items():
        yield HappenedEvent("invoke", session, _asked(queue[0].operations))
    for one in transactions:
        operations = one.operations if one.fate == "ok" else _asked(one.operations)
        yield HappenedEvent(one.fate, one.session, operations)
        queue = queues[one.session]
        queue.pop(0)
        if queue:
            yield HappenedEvent("invoke", one.session, _asked(queue[0].operations))


def _asked(operations: Operations) -> Operations:
    return [[kind, key, value if kind == WRITE else None] for kind, key, value in operations]


# -- formats


def _number(key: str) -> int:
    return ord(key[0])


def _by_session(transactions: list[Told]) -> dict[int, list[Told]]:
    found: dict[int, list[Told]] = {}
    for one in transactions:
        found.setdefault(one.session, []).append(one)
    return found


def edn(transactions: list[Told], folder: Path, workload: Workload = Workload.REGISTERS) -> Path:
    path = folder / "history.edn"
    path.write_text("".join(to_edn(events(transactions), workload)))
    return path


def jepsen_json(transactions: list[Told], folder: Path, workload: Workload = Workload.REGISTERS) -> Path:
    path = folder / "history.json"
    path.write_text("".join(to_json(events(transactions), workload)))
    return path


def plume(transactions: list[Told], folder: Path) -> Path:
    path = folder / "plume.txt"
    lines = []
    for number, one in enumerate(transactions, 1):
        for kind, key, value in one.operations:
            name = "w" if kind == WRITE else "r"
            owner = number if one.fate == "ok" else -1
            lines.append(f"{name}({_number(key)},{value or 0},{one.session},{owner})\n")
    path.write_text("".join(lines))
    return path


def awdit(transactions: list[Told], folder: Path) -> Path:
    path = folder / "awdit.txt"
    sessions = []
    for session in _by_session(transactions).values():
        bodies = [
            "".join(f"{'w' if kind == WRITE else 'r'} {key} {value}\n" for kind, key, value in one.operations)
            for one in session
        ]
        sessions.append("-----\n".join(bodies))
    path.write_text("=====\n".join(sessions))
    return path


def dbcop_hist(transactions: list[Told], folder: Path) -> Path:
    path = folder / "history.hist"
    sessions = []
    for session in _by_session(transactions).values():
        lines = ["// a session\n"]
        for one in session:
            parts = [
                f"{key}:={value}" if kind == WRITE else f"{key}=={'?' if value is None else value}"
                for kind, key, value in one.operations
            ]
            lines.append(f"[{' '.join(parts)}]{'' if one.fate == 'ok' else '!'}\n")
        sessions.append("".join(lines))
    path.write_text("---\n".join(sessions))
    return path


def dbcop_json(transactions: list[Told], folder: Path) -> Path:
    path = folder / "dbcop.json"
    data = [
        [
            {
                "events": [
                    {("Write" if kind == WRITE else "Read"): {"variable": key, "version": value}}
                    for kind, key, value in one.operations
                ],
                "committed": one.fate == "ok",
            }
            for one in session
        ]
        for session in _by_session(transactions).values()
    ]
    path.write_text(json.dumps({"params": {"id": 1}, "info": "", "start": "", "end": "", "data": data}))
    return path


def dbcop(transactions: list[Told], folder: Path) -> Path:
    sessions = _by_session(transactions)
    out = struct.pack("<5Q", 1, len(sessions), 2, 3, 4)
    for text in (b"told", b"then", b"later"):
        out += struct.pack("<Q", len(text)) + text
    out += struct.pack("<Q", len(sessions))
    for session in sessions.values():
        out += struct.pack("<Q", len(session))
        for one in session:
            out += struct.pack("<Q", len(one.operations))
            for kind, key, value in one.operations:
                out += struct.pack("<BQQB", kind, _number(key), value or 0, 1)
            out += struct.pack("<B", one.fate == "ok")
    path = folder / "history.bincode"
    path.write_bytes(out)
    return path


def cobra(transactions: list[Told], folder: Path) -> Path:
    logs = folder / "logs"
    logs.mkdir()
    for name, session in _by_session(transactions).items():
        out = b""
        for number, one in enumerate(session):
            out += b"S" + struct.pack(">q", number)
            for kind, key, value in one.operations:
                shown = 0xBEBEEBEE if value is None else value
                if kind == WRITE:
                    out += b"W" + struct.pack(">3q", shown, _number(key), 7)
                else:
                    out += b"R" + struct.pack(">4q", 1, shown, _number(key), 7)
            out += (b"C" if one.fate == "ok" else b"A") + struct.pack(">q", number)
        (logs / f"{name}.log").write_bytes(out)
    return logs


FORMATS: dict[str, Callable[[list[Told], Path], Path]] = {
    "edn": edn,
    "json": jepsen_json,
    "plume": plume,
    "awdit": awdit,
    "dbcop-hist": dbcop_hist,
    "dbcop-json": dbcop_json,
    "dbcop": dbcop,
    "cobra": cobra,
}


def check(path: Path, **options: Any) -> Checked:
    """Check it without a word."""
    return check_file(path, Options(**options), lambda _: None)


def labels(checked: Checked) -> set[str]:
    """The names of the anomalies."""
    return {one.label for one in checked.anomalies}
