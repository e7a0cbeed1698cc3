"""PostgreSQL's text output as typed values, by the type OIDs of the result."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from acidtest.model import Value

# The OIDs of built-in types never change: src/include/catalog/pg_type.dat of PostgreSQL.
BOOL, BYTEA, INT8, INT2, INT4, OID = 16, 17, 20, 21, 23, 26
FLOAT4, FLOAT8, NUMERIC = 700, 701, 1700
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ = 1082, 1083, 1114, 1184, 1266

Decoder = Callable[[bytes], Value]


def decode_text(raw: bytes) -> str:
    """Text, names, enums, intervals, arrays and every type that is not known here."""
    return raw.decode("utf-8", "surrogateescape")


def _decode_bool(raw: bytes) -> bool:
    return raw == b"t"


def _decode_bytea(raw: bytes) -> Value:
    return bytes.fromhex(raw[2:].decode("ascii"))


def _decode_float(raw: bytes) -> Value:
    # NaN stays text, so that it equals itself when results are compared.
    return "NaN" if raw == b"NaN" else float(raw)


def _decode_numeric(raw: bytes) -> Value:
    return "NaN" if raw == b"NaN" else Decimal(raw.decode("ascii"))


def _or_text(parse: Callable[[str], Value]) -> Decoder:
    """Infinity, years before 1 or after 9999 and 24:00 are values that Python's types lack."""

    def decode(raw: bytes) -> Value:
        text = raw.decode("ascii")
        try:
            return parse(text)
        except ValueError:
            return text

    return decode


DECODERS: dict[int, Decoder] = {
    BOOL: _decode_bool,
    BYTEA: _decode_bytea,
    INT2: int,
    INT4: int,
    INT8: int,
    OID: int,
    FLOAT4: _decode_float,
    FLOAT8: _decode_float,
    NUMERIC: _decode_numeric,
    DATE: _or_text(date.fromisoformat),
    TIME: _or_text(time.fromisoformat),
    TIMETZ: _or_text(time.fromisoformat),
    TIMESTAMP: _or_text(datetime.fromisoformat),
    TIMESTAMPTZ: _or_text(datetime.fromisoformat),
}


def decoder(oid: int) -> Decoder:
    """What turns the text of a type into a value."""
    return DECODERS.get(oid, decode_text)


def encode(value: Value) -> bytes | None:
    """A value as text for a placeholder; the server finds out the type from where it stands."""
    match value:
        case None:
            return None
        case bool():
            return b"t" if value else b"f"
        case bytes():
            return b"\\x" + value.hex().encode()
        case timedelta():
            return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds".encode()
    return str(value).encode()
