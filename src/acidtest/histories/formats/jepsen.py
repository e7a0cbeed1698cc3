"""Jepsen's and Elle's histories: operations as EDN maps or JSON objects, one a line or all in one vector.

A transaction is an invocation and its completion by the same process: `ok` is committed, `fail` is aborted,
and `info`, or none at all, leaves open whether it took effect.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from acidtest.errors import UsageError
from acidtest.histories.columns import (
    ABORTED,
    COMMITTED,
    INDETERMINATE,
    NEVER,
    READ,
    WRITE,
    Batch,
    Operations,
    Source,
    Workload,
)
from acidtest.histories.formats.edn import EdnReader
from acidtest.histories.formats.text import CHUNK, chunks, head_of

_KINDS = {"r": READ, ":r": READ, "append": WRITE, ":append": WRITE, "w": WRITE, ":w": WRITE}
_FATES = {"ok": COMMITTED, "fail": ABORTED, "info": INDETERMINATE}
_EVENTS = {b"ok": COMMITTED, b"fail": ABORTED, b"info": INDETERMINATE}
_MARKS = 1 << 20
"""How much of a file is looked at to tell lists from registers."""
_SPACES = bytes.maketrans(b" \n", b",,")
_THREE = frozenset({3})
_KEYWORD = re.compile(rb":([^\s,\[\]\"]+)")


def open_edn(path: Path) -> Source:
    """A history in EDN."""
    return Source(path, "edn", _workload(path), lambda: _read_edn(path), timed=True)


def open_json(path: Path) -> Source:
    """A history in JSON, as elle-cli takes it."""
    return Source(path, "json", _workload(path), lambda: _read_json(path), timed=True)


def _workload(path: Path) -> Workload:
    head = head_of(path, _MARKS)
    if b":append" in head or b'"append"' in head:
        return Workload.LISTS
    if re.search(rb'\[\s*(?::w\s|"w"\s*,)', head):
        return Workload.REGISTERS
    return Workload.LISTS if re.search(rb'\[\s*:r[^\[\]]*\[|"r"[^\[\]]*\[', head) else Workload.REGISTERS


class _Pairing:
    """What each process has begun and not ended yet, with its place, and the sessions of processes."""

    def __init__(self) -> None:
        self.running: dict[Any, tuple[int, Any]] = {}
        self.sessions: dict[Any, int] = {}

    def session(self, process: Any) -> int:
        return self.sessions.setdefault(process, len(self.sessions))


# -- any form: maps and objects


class _Events:
    """Turns maps into transactions, whatever form they came in."""

    def __init__(self, where: str, pairing: _Pairing) -> None:
        self._where = where
        self._pairing = pairing

    def add(self, event: Any, place: int, batch: Batch) -> None:
        """One operation of Jepsen's."""
        if not isinstance(event, dict):
            raise self._error(place, "an operation is a map with :type, :process and :value")
        found = {str(key).lstrip(":"): value for key, value in event.items()}
        kind = str(found.get("type", "")).lstrip(":")
        if not kind:
            raise self._error(place, "the type of an operation is missing; is this a history of Jepsen's?")
        process = found.get("process")
        if isinstance(process, bool) or not isinstance(process, int):
            return  # the nemesis, or whoever else is no client
        if kind == "invoke":
            before = self._pairing.running.get(process)
            self._pairing.running[process] = place, found.get("value")
            if before is not None:
                self._never_ended(process, *before, batch)
        elif kind in _FATES:
            began = self._pairing.running.pop(process, None)
            fate = _FATES[kind]
            value = found.get("value")
            if value is None and began is not None:
                value = began[1]
            self._complete(fate, process, began, place, value, batch)
        else:
            raise self._error(place, f"the type of an operation is invoke, ok, fail or info, not {kind!r}")

    def finish(self, batch: Batch) -> None:
        """Nothing more comes: what is still open never ended."""
        for process, (place, value) in self._pairing.running.items():
            self._never_ended(process, place, value, batch)

    def _never_ended(self, process: int, place: int, value: Any, batch: Batch) -> None:
        self._complete(INDETERMINATE, process, (place, value), NEVER, value, batch)

    def _complete(
        self, fate: int, process: int, began: tuple[int, Any] | None, place: int, value: Any, batch: Batch
    ) -> None:
        line = place if began is None or place != NEVER else began[0]
        if value is None:
            value = []
        operations = self.operations(value, line)
        if fate != COMMITTED:
            operations = [one for one in operations if one[0] == WRITE]
        start = line if began is None else began[0]
        ended = place if fate == COMMITTED else NEVER
        batch.add(fate, self._pairing.session(process), start, ended, line, operations)

    def operations(self, value: Any, line: int) -> Operations:
        """The reads and writes of a transaction."""
        if not isinstance(value, list):
            raise self._error(line, "the value of an operation is a vector of reads and writes")
        return [self._operation(one, line) for one in value]

    def _operation(self, one: Any, line: int) -> list[Any]:
        if not isinstance(one, list) or len(one) != 3 or str(one[0]) not in _KINDS:
            raise self._error(line, f"{one!r} is no read, write or append of a key, such as [:r 1 nil]")
        kind, key, value = one
        if not isinstance(key, int | str):
            raise self._error(line, f"{key!r} is no key; keys are numbers, keywords and strings")
        kind = _KINDS[kind]
        if kind == WRITE and (value is None or isinstance(value, list | dict)):
            raise self._error(line, f"{value!r} cannot be written; values are numbers, keywords and strings")
        return [kind, key, value]

    def _error(self, place: int, what: str) -> UsageError:
        return UsageError(f"{self._where}, line {place}: {what}")


def _read_forms(data: bytes, where: str) -> Iterator[Batch]:
    """A file of EDN in whatever form, all at once."""
    reader = EdnReader(data, where)
    events = _Events(where, _Pairing())
    batch = Batch()
    inside = reader.enter()
    while not reader.at_end():
        if inside and reader.leave():
            if not reader.at_end():
                raise reader.error("something follows the end of the history")
            break
        line = reader.line
        events.add(reader.form(), line, batch)
    else:
        if inside:
            raise reader.error("the ] at the end is missing")
    events.finish(batch)
    yield batch


# -- the usual form of EDN: a map a line

_FIELDS = {
    b"type": rb":(invoke|ok|fail|info)",
    b"process": rb"(\d+)",
    b"index": rb"\d+",
    b"time": rb"-?\d+",
    b"f": rb":[\w-]+",
}
_VALUE = rb"(\[[^,{}\"#;\n]*\])(?=[,}])"
_VALUE_WITH_COMMAS = rb"(\[[^{}\"#;\n]*?\])(?=, :|\}\r?$)"
_ORDER = re.compile(rb":(type|process|value|index|time|f)(?= )")
_WANTED = (b"type", b"process", b"value")


def _shape(line: bytes) -> tuple[re.Pattern[bytes], tuple[int, int, int]] | None:
    """A pattern for lines that are written like this one, and where in its matches type, process and value
    are. None if the line is not of the usual form."""
    names = list(dict.fromkeys(_ORDER.findall(line)))
    if not set(_WANTED) <= set(names):
        return None
    wanted = [name for name in names if name in _WANTED]
    last = max(names.index(name) for name in _WANTED)
    for value in (_VALUE, _VALUE_WITH_COMMAS):
        fields = [rb":" + name + rb" " + _FIELDS.get(name, value) for name in names[: last + 1]]
        pattern = re.compile(rb"^\{" + rb",? ".join(fields) + rb"(?:, :[^\n]*)?\}\r?$", re.MULTILINE)
        if pattern.match(line) is not None:
            kind, process, body = (wanted.index(name) for name in _WANTED)
            return pattern, (kind, process, body)
    return None


def usual_lines(path: Path) -> "Lines | None":
    """A reader for a file of lines of the usual form; None if the first line is of another one."""
    first = head_of(path, 4096).lstrip().split(b"\n", 1)[0].rstrip(b"\r")
    shape = _shape(first)
    return None if shape is None else Lines(str(path), *shape)


def _read_edn(path: Path) -> Iterator[Batch]:
    reading = usual_lines(path)
    if reading is None:
        yield from _read_forms(path.read_bytes(), str(path))
        return
    for line, data in chunks(path, CHUNK):
        yield reading.batch(data, line)
    yield reading.rest()


class Lines:
    """Reads lines of the usual form by one pattern, and all others by the EDN reader."""

    def __init__(self, where: str, pattern: re.Pattern[bytes], places: tuple[int, int, int]) -> None:
        self._where = where
        self._pattern = pattern
        self._places = places
        self._pairing = _Pairing()
        self._events = _Events(where, self._pairing)

    def batch(self, data: bytes, line: int) -> Batch:
        """The transactions that end in these lines."""
        paired = self.paired(data, line)
        if paired is None:
            return self._odd(data, line)
        batch, values = paired
        operations = _as_json(values)
        if operations is None:
            operations = [self._tokenized(value, at) for value, at in zip(values, batch.lines, strict=True)]
        batch.operations = operations
        _drop_reads(batch)
        return batch

    def paired(self, data: bytes, line: int) -> tuple[Batch, list[bytes]] | None:
        """The same without operations, and these as text; None if a line is not of the usual form."""
        rows = self._pattern.findall(data)
        if len(rows) != data.count(b"\n") + (not data.endswith(b"\n")):
            return None
        batch = Batch()
        values: list[bytes] = []
        fates, sessions, began, ended, lines = (
            batch.fates,
            batch.sessions,
            batch.began,
            batch.ended,
            batch.lines,
        )
        kind_at, process_at, value_at = self._places
        running = self._pairing.running
        numbers = self._pairing.sessions
        for place, row in enumerate(rows, line):
            process = int(row[process_at])
            kind = row[kind_at]
            before = running.get(process)
            if kind == b"invoke":
                running[process] = place, row[value_at]
                if before is None:
                    continue
                fate, value, end, at = INDETERMINATE, _as_text(before[1]), NEVER, before[0]
            else:
                fate, value, end, at = _EVENTS[kind], row[value_at], place, place
                if fate != COMMITTED:
                    end = NEVER
                if before is not None:
                    del running[process]
            session = numbers.get(process)
            if session is None:
                session = numbers[process] = len(numbers)
            fates.append(fate)
            sessions.append(session)
            began.append(place if before is None else before[0])
            ended.append(end)
            lines.append(at)
            values.append(value)
        return batch, values

    def rest(self) -> Batch:
        """What never ended."""
        for process in list(self._pairing.running):
            self._settle(process)
        batch = Batch()
        self._events.finish(batch)
        return batch

    def _tokenized(self, value: bytes, line: int) -> Operations:
        form = EdnReader(value, self._where, line).form()
        return self._events.operations([] if form is None else form, line)

    def _odd(self, data: bytes, line: int) -> Batch:
        """Lines that are not all of the usual form."""
        batch = Batch()
        reader = EdnReader(data, self._where, line)
        while not reader.at_end():
            at = reader.line
            event = reader.form()
            if isinstance(event, dict):
                self._settle(event.get(":process"))
            self._events.add(event, at, batch)
        return batch

    def _settle(self, process: Any) -> None:
        """The value of an invocation that was read by the pattern is still text."""
        running = self._pairing.running
        before = running.get(process)
        if before is not None and isinstance(before[1], bytes):
            running[process] = before[0], EdnReader(before[1], self._where, before[0]).form()


def _as_text(value: Any) -> bytes:
    """A value as text; it may have been read already."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, list):
        return b"[" + b" ".join(map(_as_text, value)) + b"]"
    if isinstance(value, str) and not value.startswith(":"):
        return json.dumps(value).encode()
    return b"nil" if value is None else str(value).encode()


def _drop_reads(batch: Batch) -> None:
    """Of what is not committed only the writes count: its reads are those of the invocation."""
    for at, fate in enumerate(batch.fates):
        if fate != COMMITTED:
            batch.operations[at] = [one for one in batch.operations[at] if one[0] == WRITE]


def _as_json(values: list[bytes]) -> list[Operations] | None:
    """All values at once, by way of JSON; None if one of them is not of the usual form."""
    text = b"[" + b"\n".join(values) + b"]"
    if b'"' in text:
        return None
    text = text.replace(b"[:r ", b"[0 ").replace(b"[:append ", b"[1 ").replace(b"[:w ", b"[1 ")
    if b"," in text:
        text = text.replace(b", ", b" ").replace(b",", b" ")
    text = text.replace(b"nil", b"null")
    if b":" in text:
        if b"[:" in text:
            return None
        text = _KEYWORD.sub(rb'":\1"', text)
    try:
        found: list[Operations] = json.loads(text.translate(_SPACES))
        fits = len(found) == len(values) and _THREE.issuperset(map(len, chain.from_iterable(found)))
    except (ValueError, TypeError):
        return None
    return found if fits else None


# -- JSON


def _read_json(path: Path) -> Iterator[Batch]:
    where = str(path)
    events = _Events(where, _Pairing())
    for line, data in chunks(path, CHUNK):
        batch = Batch()
        found = _objects(data)
        if found is None:
            if line == 1:
                yield from _read_whole_json(path)
                return
            found = _one_by_one(data, line, where)
        for place, event in enumerate(found, line):
            if event is not None:
                events.add(event, place, batch)
        yield batch
    batch = Batch()
    events.finish(batch)
    yield batch


def _objects(data: bytes) -> list[Any] | None:
    """An object for each line; None if lines and objects do not go together."""
    lines = data.splitlines()
    bare = [_bare(line) for line in lines]
    try:
        found: list[Any] = json.loads(b"[" + b",".join(line or b"null" for line in bare) + b"]")
    except ValueError:
        return None
    return found if len(found) == len(lines) else None


def _bare(line: bytes) -> bytes:
    """An object without the brackets and commas of the array around it."""
    line = line.strip()
    if line.startswith(b"["):
        line = line[1:].lstrip()
    if line.endswith(b"]") and not line.endswith(b"}"):
        line = line[:-1].rstrip()
    return line.removesuffix(b",").rstrip()


def _one_by_one(data: bytes, line: int, where: str) -> list[Any]:
    found = []
    for at, text in enumerate(data.splitlines(), line):
        try:
            found.append(json.loads(_bare(text) or b"null"))
        except ValueError as error:
            raise UsageError(
                f"{where}, line {at}: not a JSON object ({error}); is the file cut off?"
            ) from error
    return found


def _read_whole_json(path: Path) -> Iterator[Batch]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(
            f"{path}: not JSON ({error}); a history is an array of objects, or an object a line"
        ) from error
    if not isinstance(found, list):
        raise UsageError(f"{path}: a history is an array of operations, not {type(found).__name__}")
    events = _Events(str(path), _Pairing())
    batch = Batch()
    for place, event in enumerate(found, 1):
        events.add(event, place, batch)
    events.finish(batch)
    yield batch
