"""Columns and cells of the MySQL text protocol as typed Python values."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

from pymysql.constants import FIELD_TYPE

from acidtest.model import Value

Decoder = Callable[[bytes], Value]

BINARY_CHARSET = 63
_NOT_IN_LENGTH = 0xFB  # the length byte of NULL


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result: its name and how its cells are read."""

    name: str
    decode: Decoder


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """A length-encoded integer and the position after it."""
    first = data[at]
    if first < _NOT_IN_LENGTH:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + size], "little"), at + 1 + size


@lru_cache(maxsize=4096)  # the same few columns come again and again
def read_column(definition: bytes) -> ResultColumn:
    """A column from its definition packet."""
    at = 0
    texts: list[bytes] = []
    for _ in range(6):  # catalog, schema, table, original table, name, original name
        size, at = read_length(definition, at)
        texts.append(definition[at : at + size])
        at += size
    charset = int.from_bytes(definition[at + 1 : at + 3], "little")
    return ResultColumn(read_text(texts[4]), _decoder(definition[at + 7], charset))


def read_row(data: bytes, at: int, decoders: tuple[Decoder, ...]) -> tuple[Value, ...]:
    """A row of the text protocol whose packet starts at this position."""
    row: list[Value] = []
    for decode in decoders:
        size = data[at]
        at += 1
        if size == _NOT_IN_LENGTH:
            row.append(None)
            continue
        if size > _NOT_IN_LENGTH:
            size, at = read_length(data, at - 1)
        row.append(decode(data[at : at + size]))
        at += size
    return tuple(row)


def read_text(cell: bytes) -> str:
    """Text in the connection's character set. A case may change that set: then foreign bytes show as such."""
    return cell.decode("utf-8", "backslashreplace")


def _read_bits(cell: bytes) -> int:
    return int.from_bytes(cell, "big")


def _read_decimal(cell: bytes) -> Decimal:
    return Decimal(cell.decode("ascii"))


def _read_date(cell: bytes) -> Value:
    text = cell.decode("ascii")
    with suppress(ValueError):  # '0000-00-00' and '2024-02-00' are dates to MySQL only
        return date.fromisoformat(text)
    return text


def _read_datetime(cell: bytes) -> Value:
    text = cell.decode("ascii")
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return text


def _read_time(cell: bytes) -> timedelta:
    hours, minutes, seconds = cell.decode("ascii").lstrip("-").split(":")
    whole, _, fraction = seconds.partition(".")
    amount = timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(whole), microseconds=int(fraction.ljust(6, "0"))
    )
    return -amount if cell.startswith(b"-") else amount


# Types that read the same whatever their character set; all others are text, or bytes in the binary set.
_DECODERS: dict[int, Decoder] = {
    FIELD_TYPE.TINY: int,
    FIELD_TYPE.SHORT: int,
    FIELD_TYPE.INT24: int,
    FIELD_TYPE.LONG: int,
    FIELD_TYPE.LONGLONG: int,
    FIELD_TYPE.YEAR: int,
    FIELD_TYPE.BIT: _read_bits,
    FIELD_TYPE.FLOAT: float,
    FIELD_TYPE.DOUBLE: float,
    FIELD_TYPE.DECIMAL: _read_decimal,
    FIELD_TYPE.NEWDECIMAL: _read_decimal,
    FIELD_TYPE.DATE: _read_date,
    FIELD_TYPE.NEWDATE: _read_date,
    FIELD_TYPE.DATETIME: _read_datetime,
    FIELD_TYPE.TIMESTAMP: _read_datetime,
    FIELD_TYPE.TIME: _read_time,
    FIELD_TYPE.JSON: read_text,  # comes marked as binary, and is text
}


def _decoder(type_code: int, charset: int) -> Decoder:
    return _DECODERS.get(type_code, bytes if charset == BINARY_CHARSET else read_text)
