"""Values that bring their own type, and what a column's affinity makes of them.

https://www.sqlite.org/datatype3.html
"""

import re
from typing import Any

from acidtest.evaluator.code import Code, Convert
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.types import DOUBLE, INTEGER, NUMERIC, Family, SqlType, decimal

DYNAMIC = SqlType(Family.DYNAMIC)
"""An expression: it has no affinity. `logical`: its values are True and False, which are shown as 1 and 0."""

MIXED = SqlType(Family.DYNAMIC, loose=True)
"""A column of a set operation: it has the affinity of one of its sides, and it is not said of which."""

TRUTH = SqlType(Family.DYNAMIC, logical=True)
TEXT = SqlType(Family.TEXT)
NO_AFFINITY = frozenset({Family.DYNAMIC, Family.NULL})

_AFFINITIES = (
    (("INT",), INTEGER),
    (("CHAR", "CLOB", "TEXT"), TEXT),
    (("BLOB",), DYNAMIC),
    (("REAL", "FLOA", "DOUB"), DOUBLE),
)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_SHORT_INTEGER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_INTEGERS = range(-(1 << 63), 1 << 63)
_EXACT_INTEGERS = range(-(1 << 51), 1 << 51)
"""Doubles that SQLite surely turns into integers (sqlite3VdbeIntegerAffinity)."""


def affinity_of(declared: str) -> SqlType:
    """The affinity of a column, told from the letters of its declared type (section 3.1)."""
    upper = declared.upper()
    if not upper:
        return DYNAMIC
    return next((type_ for parts, type_ in _AFFINITIES if any(one in upper for one in parts)), decimal(None))


def plain(value: Any) -> Any:
    """A value as the client is sent it: there are no booleans."""
    return int(value) if isinstance(value, bool) else value


def sort_key(value: Any) -> tuple[int, Any]:
    """Numbers come before texts; texts compare by their bytes, which is by their code points."""
    if isinstance(value, int | float):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    raise Unknown("comparisons of BLOBs")


def integer(value: int) -> int | float:
    """The result of integer arithmetic, which goes on as a REAL where 64 bits do not hold it."""
    return value if value in _INTEGERS else float(value)


def number(value: Any) -> int | float:
    """An operand of arithmetic; texts and BLOBs would be read as far as they look like a number."""
    if isinstance(value, int | float):
        return value
    raise Unknown("a text as a number")


def text(value: Any) -> str:
    """A value as text; the digits of a REAL depend on the version."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(int(value))
    raise Unknown("a REAL or a BLOB as text")


def _as_number(value: Any) -> Any:
    """Numeric affinity: a text that is a number as a whole becomes one."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return value
    if _SHORT_INTEGER.fullmatch(value):
        return int(value)
    raise Unknown("a text that spells a number in an unusual way")


def _as_integer(value: Any) -> Any:
    """INTEGER and NUMERIC affinity: a REAL without a fraction becomes an integer."""
    found = _as_number(value)
    if not isinstance(found, float) or not found.is_integer():
        return found
    if int(found) in _EXACT_INTEGERS:
        return int(found)
    raise Unknown("a large REAL in a column of integers")


def _as_real(value: Any) -> Any:
    """REAL affinity; a zero loses its sign when it is stored."""
    found = _as_number(value)
    return float(found) + 0.0 if isinstance(found, int | float) else found


def _as_text(value: Any) -> Any:
    return text(value) if isinstance(value, int | float) else value


_STORED: dict[Family, Convert] = {
    Family.INTEGER: _as_integer,
    Family.DECIMAL: _as_integer,
    Family.DOUBLE: _as_real,
    Family.TEXT: _as_text,
}


def stored(affinity: SqlType) -> Convert:
    """What a column of this affinity makes of a value."""
    convert = _STORED.get(affinity.family, plain)
    return lambda value: convert(plain(value))


def comparable(left: Code, right: Code) -> list[Code]:
    """Operands as keys, after the affinity of one was applied to the other (section 4.2)."""
    families = (left.type.family, right.type.family)
    if Family.OPAQUE in families or left.type.loose or right.type.loose:
        raise Unknown("comparisons of a column whose affinity or collation is not certain")
    codes = [left, right]
    for own, other in ((0, 1), (1, 0)):
        if families[own] in NUMERIC and families[other] not in NUMERIC:
            codes[other] = codes[other].then(DYNAMIC, _as_number)
        elif families[own] is Family.TEXT and families[other] in NO_AFFINITY:
            codes[other] = codes[other].then(DYNAMIC, _as_text)
    return [code.then(DYNAMIC, sort_key) for code in codes]
