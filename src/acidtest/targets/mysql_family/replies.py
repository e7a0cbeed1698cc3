"""Reads the reply to one command from bytes as they come, in parts of any size."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from acidtest.model import Row
from acidtest.targets.mysql_family.values import Decoder, read_column, read_length, read_row, read_text

STATUS_IN_TRANSACTION = 0x0001
STATUS_MORE_RESULTS = 0x0008
_CONTINUES = 0xFFFFFF  # a packet of this size goes on in the next one
_MATCHED = re.compile(rb"Rows matched: (\d+)")

SHORT_REPLY = 512
"""Replies of up to so many bytes are mostly the same few again and again."""


class ConnectionLostError(Exception):
    """The connection ended, or what came is not the protocol; what that means depends on who was speaking."""


@dataclass(frozen=True, slots=True)
class Done:
    """Success without rows. `matched` as far as the server tells it apart from `affected`."""

    affected: int
    matched: int | None
    status: int
    warnings: int


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Success with rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    status: int
    warnings: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An error; the protocol tells nothing of the transaction with it."""

    errno: int
    message: str


Result = Done | ResultSet | Refused


class ReplyReader:
    """Collects the results of one command; `feed` returns them once the last byte is there."""

    __slots__ = ("_columns", "_decoders", "_handle", "_left", "_parts", "_rest", "_results", "_rows")

    def __init__(self) -> None:
        self._rest = b""  # bytes of a packet that is not complete
        self._parts = b""  # payload of the packets that the next one continues
        self._results: list[Result] = []
        self._handle: Callable[[bytes, int, int], bool] = self._on_first
        self._left = 0
        self._columns: list[str] = []
        self._decoders: tuple[Decoder, ...] = ()
        self._rows: list[Row] = []

    def feed(self, data: bytes) -> tuple[Result, ...] | None:
        """Take the next bytes; the results if the reply is now complete."""
        try:
            return self._feed(data)
        except (LookupError, ValueError, ArithmeticError) as error:
            raise ConnectionLostError(f"the server broke the protocol: {error!r}") from error

    def _feed(self, data: bytes) -> tuple[Result, ...] | None:
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= 4:
            size = data[at] | data[at + 1] << 8 | data[at + 2] << 16
            start, stop = at + 4, at + 4 + size
            if stop > end:
                break
            at = stop
            if size == _CONTINUES:
                self._parts += data[start:stop]
                continue
            if self._parts:
                whole, self._parts = self._parts + data[start:stop], b""
                complete = self._handle(whole, 0, len(whole))
            else:
                complete = self._handle(data, start, stop)
            if complete:
                if at != end:
                    raise ConnectionLostError("the server sent more than the reply to one command")
                return tuple(self._results)
        self._rest = data[at:]
        return None

    def _on_first(self, data: bytes, start: int, stop: int) -> bool:
        """OK, an error, or the number of columns."""
        first = data[start]
        if first == 0x00:
            done = _read_done(data, start, stop)
            self._results.append(done)
            return not done.status & STATUS_MORE_RESULTS
        if first == 0xFF:
            return self._on_error(data, start, stop)
        if first == 0xFB:
            raise ConnectionLostError("the server asks for a local file, which was never offered")
        self._left, _ = read_length(data, start)
        self._columns, self._decoders, self._rows = [], (), []
        self._handle = self._on_column
        return False

    def _on_column(self, data: bytes, start: int, stop: int) -> bool:
        """Column definitions, then a packet that ends them."""
        if self._left == 0:
            self._handle = self._on_row
            return False
        column = read_column(data[start:stop])
        self._columns.append(column.name)
        self._decoders += (column.decode,)
        self._left -= 1
        return False

    def _on_row(self, data: bytes, start: int, stop: int) -> bool:
        """Rows, then the end or an error: a locking read may fail after its first rows."""
        first = data[start]
        if first == 0xFE and stop - start < 9:
            warnings = data[start + 1] | data[start + 2] << 8
            status = data[start + 3] | data[start + 4] << 8
            self._results.append(ResultSet(tuple(self._columns), tuple(self._rows), status, warnings))
            self._handle = self._on_first
            return not status & STATUS_MORE_RESULTS
        if first == 0xFF:
            return self._on_error(data, start, stop)
        self._rows.append(read_row(data, start, self._decoders))
        return False

    def _on_error(self, data: bytes, start: int, stop: int) -> bool:
        errno = data[start + 1] | data[start + 2] << 8
        text = data[start + 3 : stop]
        if text[:1] == b"#":  # the SQLSTATE
            text = text[6:]
        self._results.append(Refused(errno, read_text(text)))
        return True


@lru_cache(maxsize=4096)
def read_short_reply(data: bytes) -> tuple[Result, ...] | None:
    """The results if these bytes are a whole reply."""
    return ReplyReader().feed(data)


def _read_done(data: bytes, start: int, stop: int) -> Done:
    affected, at = read_length(data, start + 1)
    _last_insert_id, at = read_length(data, at)
    status = data[at] | data[at + 1] << 8
    warnings = data[at + 2] | data[at + 3] << 8
    matched = _MATCHED.search(data, at + 4, stop) if at + 4 < stop else None
    return Done(affected, int(matched[1]) if matched else None, status, warnings)
