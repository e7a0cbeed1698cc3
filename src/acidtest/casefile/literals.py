"""Values as they are written in expectations and in printed results: one notation, read and written here.

12  -3  1.50 (decimal)  1.5e0 (float)  'text'  'it''s'  E'two\\nlines'  NULL  TRUE  FALSE  x'00ff' (bytes)
DATE '2020-01-02'  TIMESTAMP '2020-01-02 03:04:05'  TIME '03:04:05'  INTERVAL '-26:03:04.5'
FLOAT 'NaN'  FLOAT 'Infinity'  DECIMAL 'NaN'
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from acidtest.model import Row, Value

LITERAL = re.compile(
    r"(?P<float>[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+)(?![\w.])"
    r"|(?P<decimal>[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+))(?![\w.])"
    r"|(?P<int>[-+]?[0-9]+)(?![\w.])"
    r"|(?P<bytes>[xX]'(?:[0-9A-Fa-f]{2})*')"
    r"|(?P<escaped>[eE]'(?:[^'\\\n]++|''|\\.)*+')"
    r"|(?P<text>'(?:[^'\n]++|'')*+')"
    r"|(?P<typed>(?i:DATE|TIMESTAMP|TIME|INTERVAL|FLOAT|DECIMAL)\s*'[^'\n]*')"
    r"|(?P<word>(?i:NULL|TRUE|FALSE))(?!\w)"
)
_WORDS: dict[str, Value] = {"NULL": None, "TRUE": True, "FALSE": False}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'"}
_ESCAPE = re.compile(r"\\(?:([nrt\\'])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))|''")
_INTERVAL = re.compile(r"([-+]?)([0-9]+):([0-5]?[0-9]):([0-5]?[0-9])(?:\.([0-9]{1,6}))?")


def read_literal(match: re.Match[str]) -> Value:
    """The value of a match of `LITERAL`; a ValueError says what is wrong with it."""
    return _READERS[str(match.lastgroup)](match[0])


def _read_escaped(text: str) -> str:
    return _ESCAPE.sub(_unescape, text[2:-1])


def _unescape(match: re.Match[str]) -> str:
    simple, short, long, unknown = match.groups()
    if unknown:
        raise ValueError(f"the unknown escape \\{unknown}")
    if simple:
        return _ESCAPES[simple]
    if short or long:
        return _character(int(short or long, 16))
    return "'"


def _character(code: int) -> str:
    if code > 0x10FFFF:
        raise ValueError(f"a character beyond Unicode, {code:#x}")
    return chr(code)


def _read_typed(text: str) -> Value:
    name, _, body = text[:-1].partition("'")
    try:
        return _TYPED[name.strip().upper()](body.strip())
    except (ValueError, ArithmeticError):
        raise ValueError(f"`{text}`, which is none") from None


def _read_interval(text: str) -> timedelta:
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    sign, hours, minutes, seconds, fraction = match.groups()
    microseconds = int((fraction or "0").ljust(6, "0"))
    size = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds), microseconds=microseconds)
    return -size if sign == "-" else size


def _read_float(text: str) -> float:
    return float(text)


def _read_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python refuses thousands of digits
        raise ValueError(f"an integer of {len(text)} digits") from None


_TYPED: dict[str, Callable[[str], Value]] = {
    "DATE": date.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "TIME": time.fromisoformat,
    "INTERVAL": _read_interval,
    "FLOAT": _read_float,
    "DECIMAL": Decimal,
}
_READERS: dict[str, Callable[[str], Value]] = {
    "int": _read_int,
    "decimal": Decimal,
    "float": _read_float,
    "bytes": lambda text: bytes.fromhex(text[2:-1]),
    "escaped": _read_escaped,
    "text": lambda text: text[1:-1].replace("''", "'"),
    "typed": _read_typed,
    "word": lambda text: _WORDS[text.upper()],
}


def format_value(value: Value) -> str:
    """The literal that reads as this value. A decimal without places, such as 10, reads as an integer."""
    if value is None:
        return "NULL"
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    raise ValueError(f"a {type(value).__name__} cannot be written as a literal")


def _write_text(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return "E'" + "".join(map(_escape, text)) + "'"


def _escape(char: str) -> str:
    if char == "'":
        return "''"
    if char == "\\" or not char.isprintable():
        named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}.get(char)
        return named or (f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}")
    return char


def _write_float(number: float) -> str:
    text = repr(number)
    if text in ("nan", "inf", "-inf"):
        return f"FLOAT '{text.replace('inf', 'Infinity').replace('nan', 'NaN')}'"
    return text if "e" in text else text + "e0"


def _write_decimal(number: Decimal) -> str:
    return format(number, "f") if number.is_finite() else f"DECIMAL '{number}'"


def _write_interval(span: timedelta) -> str:
    sign, span = ("-", -span) if span < timedelta(0) else ("", span)
    seconds = span.days * 86400 + span.seconds
    fraction = f".{span.microseconds:06d}" if span.microseconds else ""
    return f"INTERVAL '{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}'"


# The order matters: a bool is an int, and a datetime is a date.
_WRITERS: tuple[tuple[type, Callable[..., str]], ...] = (
    (bool, lambda value: "TRUE" if value else "FALSE"),
    (int, str),
    (float, _write_float),
    (Decimal, _write_decimal),
    (str, _write_text),
    (bytes, lambda value: f"x'{value.hex()}'"),
    (datetime, lambda value: f"TIMESTAMP '{value.isoformat(sep=' ')}'"),
    (date, lambda value: f"DATE '{value.isoformat()}'"),
    (time, lambda value: f"TIME '{value.isoformat()}'"),
    (timedelta, _write_interval),
)


def format_row(row: Row) -> str:
    """A row as in expectations: `(1,'a',NULL)`."""
    return "(" + ",".join(map(format_value, row)) + ")"


def format_rows(rows: Iterable[Row]) -> str:
    """Rows as in expectations: `(1) (2)`, or `no rows`."""
    return " ".join(map(format_row, rows)) or "no rows"
