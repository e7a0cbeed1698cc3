"""Binary histories of registers: Cobra's logs and DBCop's bincode; and DBCop's JSON."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acidtest.errors import UsageError
from acidtest.histories.columns import ABORTED, COMMITTED, INDETERMINATE, READ, WRITE, Batch, Source, Workload

# -- Cobra: a folder of logs, one for each session, of records in network order

_INITIAL = frozenset({0xBEBEEBEE, 0xDEADBEEF})
_COLLECTOR = frozenset({0x23332333, 0x66666666})
"""Reads of Cobra's own garbage collector."""
_SIZES = {ord("S"): 8, ord("W"): 24, ord("R"): 32, ord("C"): 8, ord("A"): 8}


def open_cobra(path: Path) -> Source:
    """Cobra's logs: a folder of *.log files, or one of them."""
    logs = sorted(path.glob("*.log")) if path.is_dir() else [path]
    return Source(path, "cobra", Workload.REGISTERS, lambda: _read_cobra(logs), by_line=False)


def _read_cobra(logs: list[Path]) -> Iterator[Batch]:
    count = 0
    for session, log in enumerate(logs):
        data = log.read_bytes()
        stamped = _is_stamped(data)
        batch = Batch()
        operations: list[list[Any]] = []
        position, open_since = 0, -1
        while position < len(data):
            kind = data[position]
            size = _SIZES.get(kind, 0) + (8 if stamped and kind in b"SC" else 0)
            if not _SIZES.get(kind):
                raise UsageError(
                    f"{log}, byte {position}: no record of Cobra's begins with {bytes([kind])!r}"
                )
            if position + 1 + size > len(data):
                raise UsageError(f"{log}, byte {position}: the last record is cut off")
            numbers = struct.unpack_from(f">{size // 8}q", data, position + 1)
            match chr(kind):
                case "S":
                    operations, open_since = [], position
                case "W":
                    operations.append([WRITE, numbers[1], numbers[0]])
                case "R":
                    _add_cobra_read(operations, numbers)
                case "C" | "A":
                    count += 1
                    fate = COMMITTED if kind == ord("C") else ABORTED
                    kept = operations if fate == COMMITTED else [one for one in operations if one[0] == WRITE]
                    batch.add(fate, session, count, count, count, kept)
                    operations, open_since = [], -1
            position += 1 + size
        if open_since >= 0:
            count += 1
            writes = [one for one in operations if one[0] == WRITE]
            batch.add(INDETERMINATE, session, count, count, count, writes)
        yield batch


def _add_cobra_read(operations: list[list[Any]], numbers: tuple[int, ...]) -> None:
    writer, write, key = numbers[:3]
    if write in _COLLECTOR or writer in _COLLECTOR:
        return
    operations.append([READ, key, None if write in _INITIAL or writer in _INITIAL else write])


def _is_stamped(data: bytes) -> bool:
    """Whether S and C carry a timestamp: then the second record begins at byte 17, and not at 9."""
    return len(data) > 17 and data[9] not in _SIZES and data[17] in _SIZES


# -- DBCop: bincode, numbers of eight bytes, the least significant first


def open_dbcop(path: Path) -> Source:
    """DBCop's history.bincode, or a folder that holds it."""
    file = path / "history.bincode" if path.is_dir() else path
    return Source(file, "dbcop", Workload.REGISTERS, lambda: _read_dbcop(file), by_line=False, initial=0)


class _Bincode:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._data = path.read_bytes()
        self.position = 0

    def number(self) -> int:
        return int.from_bytes(self._take(8), "little")

    def flag(self) -> bool:
        (byte,) = self._take(1)
        if byte > 1:
            raise self.error(f"a truth value is 0 or 1, not {byte}")
        return bool(byte)

    def text(self) -> None:
        self._take(self.number())

    def at_end(self) -> bool:
        return self.position == len(self._data)

    def error(self, what: str) -> UsageError:
        return UsageError(f"{self._path}, byte {self.position}: {what}; is this DBCop's history.bincode?")

    def _take(self, size: int) -> bytes:
        if self.position + size > len(self._data):
            raise self.error("the file ends too soon")
        self.position += size
        return self._data[self.position - size : self.position]


def _read_dbcop(path: Path) -> Iterator[Batch]:
    data = _Bincode(path)
    for _ in range(5):
        data.number()
    for _ in range(3):
        data.text()
    count = 0
    for session in range(data.number()):
        batch = Batch()
        for _ in range(data.number()):
            count += 1
            operations: list[list[Any]] = []
            for _ in range(data.number()):
                is_write, key, value, succeeded = data.flag(), data.number(), data.number(), data.flag()
                if succeeded:
                    operations.append([int(is_write), key, value])
            fate = COMMITTED if data.flag() else ABORTED
            if fate == ABORTED:
                operations = [one for one in operations if one[0] == WRITE]
            batch.add(fate, session, count, count, count, operations)
        yield batch
    if not data.at_end():
        raise data.error("something follows the last session")


# -- DBCop: JSON


def open_dbcop_json(path: Path) -> Source:
    """DBCop's JSON: sessions of transactions of events."""
    return Source(
        path, "dbcop-json", Workload.REGISTERS, lambda: _read_dbcop_json(path), by_line=False, initial=0
    )


def _read_dbcop_json(path: Path) -> Iterator[Batch]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}); is the file cut off?") from error
    sessions = found.get("data") if isinstance(found, dict) else found
    if not isinstance(sessions, list):
        raise UsageError(f"{path}: DBCop's JSON has an array of sessions under `data`")
    count = 0
    for session, transactions in enumerate(sessions):
        batch = Batch()
        for transaction in transactions:
            count += 1
            try:
                operations = [_dbcop_event(event) for event in transaction["events"]]
                fate = COMMITTED if transaction.get("committed", True) else ABORTED
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise UsageError(
                    f"{path}, transaction {count}: an event is a Read or a Write ({error!r})"
                ) from error
            if fate == ABORTED:
                operations = [one for one in operations if one[0] == WRITE]
            batch.add(fate, session, count, count, count, operations)
        yield batch


def _dbcop_event(event: Any) -> list[Any]:
    if isinstance(event, list):
        kind, key, value = event
        return [{"r": READ, "w": WRITE}[kind], key, value]
    ((kind, parts),) = event.items()
    return [{"Read": READ, "Write": WRITE}[kind], parts["variable"], parts["version"]]
