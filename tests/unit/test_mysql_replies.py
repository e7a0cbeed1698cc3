"""Replies of the MySQL protocol are read whole, in whatever parts they come."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from pymysql.constants import FIELD_TYPE

from acidtest.targets.mysql_family.replies import (
    STATUS_IN_TRANSACTION,
    STATUS_MORE_RESULTS,
    ConnectionLostError,
    Done,
    Refused,
    ReplyReader,
    Result,
    ResultSet,
    read_short_reply,
)

BINARY, UTF8MB4 = 63, 45
_FULL_PACKET = 0xFFFFFF


def packet(payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "little") + b"\0" + payload


def length(number: int) -> bytes:
    if number < 251:
        return bytes((number,))
    if number < 1 << 16:
        return b"\xfc" + number.to_bytes(2, "little")
    if number < 1 << 24:
        return b"\xfd" + number.to_bytes(3, "little")
    return b"\xfe" + number.to_bytes(8, "little")


def text(value: bytes) -> bytes:
    return length(len(value)) + value


def ok(affected: int = 0, status: int = 2, warnings: int = 0, info: bytes = b"") -> bytes:
    numbers = status.to_bytes(2, "little") + warnings.to_bytes(2, "little")
    return packet(b"\0" + length(affected) + length(0) + numbers + info)


def end(status: int = 2, warnings: int = 0) -> bytes:
    return packet(b"\xfe" + warnings.to_bytes(2, "little") + status.to_bytes(2, "little"))


def error(errno: int, message: str) -> bytes:
    return packet(b"\xff" + errno.to_bytes(2, "little") + b"#HY000" + message.encode())


def column(name: str, type_code: int, charset: int = UTF8MB4) -> bytes:
    names = b"".join(map(text, (b"def", b"", b"t", b"t", name.encode(), name.encode())))
    tail = charset.to_bytes(2, "little") + bytes(4) + bytes((type_code,)) + bytes(5)
    return packet(names + b"\x0c" + tail)


def row(*cells: bytes | None) -> bytes:
    return packet(b"".join(b"\xfb" if cell is None else text(cell) for cell in cells))


def rows(columns: list[bytes], *parts: bytes, status: int = 2) -> bytes:
    return packet(length(len(columns))) + b"".join(columns) + end() + b"".join(parts) + end(status)


def read(data: bytes) -> tuple[Result, ...]:
    results = ReplyReader().feed(data)
    assert results is not None
    return results


def cell(value: bytes, type_code: int, charset: int = BINARY) -> object:
    (result,) = read(rows([column("c", type_code, charset)], row(value)))
    assert isinstance(result, ResultSet)
    return result.rows[0][0]


def test_success_tells_changed_and_matched_rows() -> None:
    info = b"(Rows matched: 3  Changed: 2  Warnings: 1"
    (done,) = read(ok(2, STATUS_IN_TRANSACTION, 1, info))
    assert done == Done(affected=2, matched=3, status=STATUS_IN_TRANSACTION, warnings=1)
    assert read(ok(300)) == (Done(300, None, 2, 0),)


def test_an_error_has_a_number_and_a_message_without_its_sqlstate() -> None:
    assert read(error(1213, "Deadlock")) == (Refused(1213, "Deadlock"),)


REPLY = rows(
    [column("id", FIELD_TYPE.LONG, BINARY), column("name", FIELD_TYPE.VAR_STRING)],
    row(b"1", "žluť".encode()),
    row(b"-2", None),
    row(b"3", b"x" * 70_000),
)


def test_rows_are_typed_and_null_is_none() -> None:
    (result,) = read(REPLY)
    assert result == ResultSet(("id", "name"), ((1, "žluť"), (-2, None), (3, "x" * 70_000)), 2, 0)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000, 16384])
def test_a_reply_may_come_in_parts_of_any_size(size: int) -> None:
    reader = ReplyReader()
    parts = [REPLY[at : at + size] for at in range(0, len(REPLY), size)]
    for part in parts[:-1]:
        assert reader.feed(part) is None
    assert reader.feed(parts[-1]) == read(REPLY)


def test_a_short_reply_is_read_at_once_or_not_at_all() -> None:
    one = ok(affected=3)
    assert read_short_reply(one) == read(one)
    assert read_short_reply(one[:-1]) is None
    assert read_short_reply(one) is read_short_reply(bytes(bytearray(one)))  # the same bytes are read once
    with pytest.raises(ConnectionLostError):
        read_short_reply(one + one)


def test_a_read_that_fails_after_its_first_rows_is_an_error() -> None:
    columns = [column("id", FIELD_TYPE.LONG)]
    started = packet(length(1)) + columns[0] + end() + row(b"1")
    assert read(started + error(1205, "timeout")) == (Refused(1205, "timeout"),)


def test_several_results_of_one_command_come_together() -> None:
    one = rows([column("id", FIELD_TYPE.LONG)], row(b"1"), status=STATUS_MORE_RESULTS)
    other = rows([column("name", FIELD_TYPE.VAR_STRING)], row(b"a"), status=STATUS_MORE_RESULTS)
    reader = ReplyReader()
    assert reader.feed(one) is None
    results = reader.feed(other + ok())
    assert results is not None
    assert [getattr(result, "rows", None) for result in results] == [((1,),), (("a",),), None]


def test_a_row_larger_than_a_packet_is_put_together() -> None:
    value = b"y" * (_FULL_PACKET + 10)
    payload = text(value)
    data = packet(payload[:_FULL_PACKET]) + packet(payload[_FULL_PACKET:])
    (result,) = read(rows([column("c", FIELD_TYPE.BLOB, BINARY)], data))
    assert isinstance(result, ResultSet)
    assert result.rows == ((value,),)


@pytest.mark.parametrize(
    "data",
    [ok() + ok(), packet(b""), packet(b"\xfbfile"), rows([column("c", FIELD_TYPE.LONG)], row(b"no number"))],
    ids=["more than a reply", "empty", "local file", "not a number"],
)
def test_what_is_not_the_protocol_ends_the_connection(data: bytes) -> None:
    with pytest.raises(ConnectionLostError):
        ReplyReader().feed(data)


@pytest.mark.parametrize(
    ("value", "type_code", "expected"),
    [
        (b"18446744073709551615", FIELD_TYPE.LONGLONG, 2**64 - 1),
        (b"1.50", FIELD_TYPE.NEWDECIMAL, Decimal("1.50")),
        (b"1.5e-300", FIELD_TYPE.DOUBLE, 1.5e-300),
        (b"\x01\x05", FIELD_TYPE.BIT, 0x105),
        (b"2024-02-29", FIELD_TYPE.DATE, date(2024, 2, 29)),
        (b"0000-00-00", FIELD_TYPE.DATE, "0000-00-00"),
        (b"2024-02-00", FIELD_TYPE.DATE, "2024-02-00"),
        (b"2024-02-29 01:02:03.5", FIELD_TYPE.DATETIME, datetime(2024, 2, 29, 1, 2, 3, 500_000)),
        (b"0000-00-00 00:00:00", FIELD_TYPE.TIMESTAMP, "0000-00-00 00:00:00"),
        (b"-838:59:59", FIELD_TYPE.TIME, -timedelta(hours=838, minutes=59, seconds=59)),
        (b"-00:00:00.25", FIELD_TYPE.TIME, -timedelta(microseconds=250_000)),
        (b"\x00\xff", FIELD_TYPE.BLOB, b"\x00\xff"),
        (b'{"a": 1}', FIELD_TYPE.JSON, '{"a": 1}'),
    ],
)
def test_cells_are_typed(value: bytes, type_code: int, expected: object) -> None:
    found = cell(value, type_code)
    assert found == expected
    assert type(found) is type(expected)


def test_text_in_a_foreign_character_set_shows_its_bytes() -> None:
    assert cell(b"\xe4", FIELD_TYPE.VAR_STRING, UTF8MB4) == "\\xe4"
