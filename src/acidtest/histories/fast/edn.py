"""EDN of the usual form, a map a line, as arrays: no line is looked at by itself."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from acidtest.histories.columns import ABORTED, COMMITTED, INDETERMINATE, NEVER
from acidtest.histories.fast.arrays import Bytes, Ints, digits, numbers
from acidtest.histories.formats.text import CHUNK, chunks, head_of

_INVOKED = 3
_LENGTHS = np.array([2, 4, 4, 6])
"""Of the words ok, fail, info and invoke."""
_FIELD = re.compile(rb":(index|time|type|process|f|value) (:?[\w-]+|(?=\[))")
_NUMBERS = (b"index", b"time", b"process")


@dataclass(slots=True)
class Operations:
    """Operations of all transactions: appends with a value, reads with a stretch of `elements`."""

    transaction: Ints
    key: Ints
    is_append: Ints
    value: Ints
    start: Ints
    length: Ints
    elements: npt.NDArray[np.int32]


@dataclass(slots=True)
class Columns:
    """The transactions, in the order in which they ended."""

    fates: Ints
    sessions: Ints
    began: Ints
    ended: Ints


@dataclass(frozen=True, slots=True)
class _Template:
    """Where things are in every line: which of its numbers is the process, how many come before the value,
    and how far type and value are from what comes before them."""

    process: int
    before: int
    type_after: int
    type_offset: int
    value_after_type: bool
    value_offset: int


def _template(line: bytes) -> _Template | None:
    fields = [(match[1], match.start(2), match.end(2)) for match in _FIELD.finditer(line)]
    names = [name for name, _, _ in fields]
    if not line.startswith(b"{:") or names.count(b"value") != 1 or names.count(b"type") != 1:
        return None
    fields = fields[: names.index(b"value") + 1]
    numeric = [field for field in fields if field[0] in _NUMBERS]
    if b"process" not in [name for name, _, _ in numeric] or b"type" not in [name for name, _, _ in fields]:
        return None
    _, type_at, type_end = fields[[name for name, _, _ in fields].index(b"type")]
    earlier = [field for field in numeric if field[1] < type_at]
    last = numeric[-1]
    value_at = fields[-1][1]
    return _Template(
        [name for name, _, _ in numeric].index(b"process"),
        len(numeric),
        len(earlier) - 1,
        type_at + 1 - (earlier[-1][2] if earlier else 0),
        last[1] < type_at,
        value_at - (type_end if last[1] < type_at else last[2]),
    )


def read_edn(path: Path, say: Callable[[str], object]) -> tuple[Columns, Operations] | None:
    """The whole file; None if it is not all of the usual form, or holds other than numbers."""
    template = _template(head_of(path, 4096).split(b"\n", 1)[0].rstrip(b"\r"))
    if template is None:
        return None
    lines: list[tuple[Ints, Ints]] = []
    pieces: list[tuple[npt.NDArray[Any], ...]] = []
    count = elements = told = 0
    for _, data in chunks(path, CHUNK):
        piece = _Piece(data, template)
        columns = piece.lines()
        operations = None if columns is None else piece.operations(count, elements)
        if columns is None or operations is None:
            return None
        lines.append(columns)
        pieces.append(operations)
        elements += len(operations[-1])
        count += piece.completed
        if count - told >= 100_000:
            told = count
            say(f"{count:,} transactions read")
    if not count:
        return None
    paired = _pair(np.concatenate([one for one, _ in lines]), np.concatenate([two for _, two in lines]))
    if paired is None:
        return None
    return paired, Operations(*(np.concatenate([piece[at] for piece in pieces]) for at in range(7)))


class _Piece:
    """Some whole lines."""

    def __init__(self, data: bytes, template: _Template) -> None:
        self._raw = data if data.endswith(b"\n") else data + b"\n"
        self._data: Bytes = np.frombuffer(self._raw + b" " * 8, np.uint8)
        self._template = template
        self.completed = 0

    def lines(self) -> tuple[Ints, Ints] | None:
        """What happened in each line, and to which process."""
        data, template = self._data, self._template
        self._starts, self._ends = digits(data)
        ends = np.flatnonzero(data == ord("\n"))
        begins = np.concatenate(([0], ends[:-1] + 1))
        self._first = np.searchsorted(self._starts, begins)
        self._counts = np.append(self._first[1:], len(self._starts)) - self._first
        if int(self._counts.min()) < template.before:
            return None
        base = begins if template.type_after < 0 else self._ends[self._first + template.type_after]
        at = base + template.type_offset
        if int(at.max()) + 8 >= len(data) or not bool((data[at - 1] == ord(":")).all()):
            return None
        one, three = data[at], data[at + 2]
        starts_with_i = one == ord("i")
        kind = np.full(len(at), -1)
        kind[one == ord("o")] = COMMITTED
        kind[one == ord("f")] = ABORTED
        kind[starts_with_i & (three == ord("f"))] = INDETERMINATE
        kind[starts_with_i & (three == ord("v"))] = _INVOKED
        if bool((kind < 0).any()):
            return None
        after = (
            at + _LENGTHS[kind]
            if template.value_after_type
            else self._ends[self._first + template.before - 1]
        )
        value = after + template.value_offset
        if int(value.max()) >= len(data) or not bool((data[value] == ord("[")).all()):
            return None
        self._kind, self._line_ends = kind, ends
        token = self._first + template.process
        process = numbers(data, self._starts[token], self._ends[token])
        return None if process is None else (kind, process)

    def operations(self, first: int, elements_before: int) -> tuple[npt.NDArray[Any], ...] | None:
        """Columns of the operations that completed."""
        data, starts, ends = self._data, self._starts, self._ends
        until = self._line_ends.copy()
        brackets = np.flatnonzero(data == ord("]"))
        closing = brackets[data[brackets + 1] == ord(",")]
        line_of = np.searchsorted(self._line_ends, closing)
        until[line_of[::-1]] = closing[::-1]
        line = np.repeat(np.arange(len(self._counts)), self._counts)
        place = np.arange(len(starts)) - self._first[line]
        inside = (place >= self._template.before) & (starts < until[line])
        opened = np.flatnonzero((data[:-1] == ord("[")) & (data[1:] == ord(":")))
        if len(closing):
            opened = opened[opened < until[np.searchsorted(self._line_ends, opened)]]
        marks = data[starts - 2]
        is_head = inside & ((marks == ord("d")) | (marks == ord("r")))
        if int(np.count_nonzero(is_head)) != len(opened):
            return None  # a key that is no number
        kept = inside & (self._kind[line] != _INVOKED)
        starts, ends, line = starts[kept], ends[kept], line[kept]
        tokens = numbers(data, starts, ends)
        if tokens is None or int(tokens.max(initial=0)) >= 1 << 31:
            return None
        heads = np.flatnonzero(is_head[kept])
        if not _are_separate(data, starts, ends):
            return None
        appended = marks[kept][heads] == ord("d")
        following = np.append(heads[1:], len(tokens)) - heads - 1
        some = starts[heads[~appended & (following > 0)] + 1]
        none = data[ends[heads[~appended & (following == 0)]] + 1]
        usual = (
            bool((following[appended] == 1).all())
            and bool((data[some - 1] == ord("[")).all())
            and bool(((none == ord("n")) | (none == ord("["))).all())
        )
        if not usual or (len(tokens) and (not len(heads) or heads[0] != 0)):
            return None
        done = self._kind != _INVOKED
        number = np.cumsum(done) - 1 + first
        self.completed = int(np.count_nonzero(done))
        element = np.ones(len(tokens), bool)
        element[heads] = False
        element[heads[appended] + 1] = False
        value = np.where(appended, tokens[np.minimum(heads + 1, max(len(tokens) - 1, 0))], 0)
        length = np.where(appended, 0, following)
        start = elements_before + np.cumsum(length) - length
        return (
            number[line[heads]],
            tokens[heads],
            appended.astype(np.int64),
            value,
            start,
            length,
            tokens[element].astype(np.int32),
        )


def _are_separate(data: Bytes, starts: Ints, ends: Ints) -> bool:
    """Whether the numbers stand by themselves: not negative, no fractions, no parts of names."""
    before, after = data[starts - 1], data[ends]
    return bool(((before == ord(" ")) | (before == ord("["))).all()) and bool(
        ((after == ord(" ")) | (after == ord("]"))).all()
    )


def _pair(kinds: Ints, processes: Ints) -> Columns | None:
    """Each completion with the invocation before it; None if one of them is alone."""
    places = np.arange(1, len(kinds) + 1)
    order = np.argsort(processes, kind="stable")
    if len(order) % 2:
        return None
    invoked, completed = order[::2], order[1::2]
    fits = (
        bool((kinds[invoked] == _INVOKED).all())
        and not bool((kinds[completed] == _INVOKED).any())
        and bool((processes[invoked] == processes[completed]).all())
    )
    if not fits:
        return None
    began = np.zeros(len(kinds), np.int64)
    began[completed] = places[invoked]
    done = np.flatnonzero(kinds != _INVOKED)
    ended = np.where(kinds[done] == COMMITTED, places[done], NEVER)
    return Columns(kinds[done], processes[done], began[done], ended)
