"""Types: those of columns, common types of several operands, conversions of codes between them."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from acidtest.evaluator.code import Code
from acidtest.evaluator.collations import Collation, mysql_collation
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.logic import NO_ELSE
from acidtest.evaluator.mysql import values
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.types import (
    DATE,
    DATETIME,
    DOUBLE,
    INTEGER,
    NULL,
    NUMERIC,
    TEMPORAL,
    UNSIGNED,
    Family,
    SqlType,
    Strength,
    decimal,
)
from acidtest.model import Column

_SPELLING = re.compile(r"(\w+)(?:\((\d+)(?:,\s*(\d+))?\))?((?: \w+)*)", re.ASCII)
_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}
_TEXT_LENGTHS = {"tinytext": 255, "text": 65535, "mediumtext": 16777215, "longtext": 4294967295}
_RANKS = [
    Strength.EXPLICIT,
    Strength.NONE,
    Strength.COLUMN,
    Strength.LITERAL,
    Strength.CONVERTED,
    Strength.IGNORABLE,
]


@lru_cache(maxsize=1024)
def column_type(spelling: str, collation: str | None) -> SqlType:
    """The type of a column from `SHOW COLUMNS`' spelling."""
    match = _SPELLING.fullmatch(spelling.strip().lower())
    if match is None:
        raise Unknown(f"columns of type {spelling}")
    name, first, second, attributes = match[1], match[2], match[3], match[4].split()
    if "zerofill" in attributes:
        raise Unknown("ZEROFILL")
    if name in _BITS:
        return INTEGER.but(bits=_BITS[name], unsigned="unsigned" in attributes)
    if name in ("decimal", "numeric") and "unsigned" not in attributes:
        return decimal(int(second or 0), precision=int(first or 10))
    if name in ("double", "real") and first is None and "unsigned" not in attributes:
        return DOUBLE
    if name in ("char", "varchar") or name in _TEXT_LENGTHS:
        length = _TEXT_LENGTHS[name] if name in _TEXT_LENGTHS else int(first or 1)
        return SqlType(
            Family.TEXT,
            length=length,
            padded=name == "char",
            collation=mysql_collation(collation or "unnamed"),
            strength=Strength.COLUMN,
        )
    if name == "date":
        return DATE
    if name == "datetime" and not int(first or 0):
        return DATETIME
    raise Unknown(f"columns of type {spelling}")


def stored_type(column: Column) -> SqlType:
    """The type of a column of the catalog."""
    return column_type(column.type, column.collation)


def text_type(compiler: Compiler, strength: Strength = Strength.LITERAL) -> SqlType:
    """The type of a text in the connection's collation."""
    name = compiler.dialect.settings.connection_collation or "unnamed"
    return SqlType(Family.TEXT, collation=mysql_collation(name), strength=strength)


def as_double(compiler: Compiler, code: Code) -> Code:
    """A code as DOUBLE, as in arithmetic and mixed comparisons."""
    family = code.type.family
    if family is Family.DOUBLE:
        return code
    if family is Family.NULL:
        return code.typed(DOUBLE.but(scale=0))
    if family in (Family.INTEGER, Family.DECIMAL):
        return code.then(DOUBLE.but(scale=code.type.scale or 0), float)
    if family is Family.TEXT:
        if code.type.loose:
            raise Unknown("GREATEST and LEAST of texts as numbers")
        if compiler.writes and code.constant:
            constant = code.then(DOUBLE, values.text_to_double_or_unknown)
            constant.fn(())
            return constant
        if compiler.writes and not code.column:
            return code.then(DOUBLE, values.plain_text_to_double)
        if compiler.writes:
            checked = values.text_to_double_checked
            if not quirks_of(compiler).blank_text_is_zero:
                checked = values.text_not_blank_to_double
            return code.then(DOUBLE, checked, fails=True)
        return code.then(DOUBLE, values.text_to_double)
    raise Unknown(f"{family} as a number")


def as_decimal(code: Code) -> Code:
    """An exact number as DECIMAL."""
    if code.type.family is Family.DECIMAL:
        return code
    if code.type.family is Family.NULL:
        return code.typed(decimal(0))
    if code.type.family is Family.INTEGER:
        return code.then(decimal(0), _to_decimal)
    raise Unknown(f"{code.type.family} as DECIMAL")


def _to_decimal(value: Any) -> Decimal:
    return Decimal(int(value))


def as_text(compiler: Compiler, code: Code) -> Code:
    """A code as text, as in CONCAT and string comparisons."""
    type_ = code.type
    if type_.family in (Family.TEXT, Family.NULL):
        return code if type_.is_text else code.typed(text_type(compiler, Strength.IGNORABLE))
    if type_.family is Family.OPAQUE:
        raise Unknown("types that are not modelled, as text")
    target = text_type(compiler, Strength.CONVERTED)
    if type_.family is Family.INTEGER:
        return code.then(target, values.integer_to_text)
    if type_.family is Family.DECIMAL:
        output = compiler.dialect.output(type_)
        shown = code if output is None else code.then(type_, output)
        return shown.then(target, values.own_decimals_to_text)
    if type_.family is Family.DOUBLE and type_.ragged:
        raise Unknown("a CASE over DOUBLEs and others as text")
    if type_.family is Family.DOUBLE:
        output = compiler.dialect.output(type_)
        shown = code if output is None or type_.scale is not None else code.then(type_, output)
        limited = quirks_of(compiler).limits_double_text
        if limited and type_.scale is not None:
            raise Unknown("a DOUBLE with a fixed number of decimals as text")
        plain = values.short_double_to_text if limited else values.double_to_text
        if type_.scale is None:
            return shown.then(target, plain)
        signed = quirks_of(compiler).keeps_signed_zero
        return shown.then(target, fixed_to_text(type_.scale, signed=signed))
    return code.then(target, values.temporal_to_text)


def fixed_to_text(scale: int, *, signed: bool) -> Callable[[float], str]:
    """A DOUBLE with a fixed number of decimals."""
    return lambda value: values.fixed_double(value if signed or value else 0.0, scale)


def common_scale(types: Sequence[SqlType]) -> int | None:
    """The decimals of a DOUBLE made of these: fixed only if all of them are."""
    scales = [0 if type_.family is Family.NULL else type_.scale for type_ in types]
    known = [scale for scale in scales if scale is not None]
    return max(known) if len(known) == len(scales) else None


def as_datetime(code: Code) -> Code:
    """A date, or a text that is one, as a point in time."""
    if code.type.family is Family.DATETIME:
        return code
    if code.type.family is Family.NULL:
        return code.typed(DATETIME)
    if code.type.family is Family.DATE:
        return code.then(DATETIME, lambda value: datetime.combine(value, time()))
    if code.type.family is Family.TEXT:
        text = code.fn(()) if code.constant and not code.fails else None
        if text is not None:
            values.text_to_datetime(text)
        return code.then(DATETIME, values.text_to_datetime)
    raise Unknown(f"{code.type.family} as a point in time")


def common_collation(codes: Sequence[Code]) -> tuple[Collation, Strength]:
    """The collation that rules when these texts meet."""
    texts = [code.type for code in codes if code.type.is_text]
    best = min((text.strength for text in texts), key=_RANKS.index)
    rivals = {text.collation for text in texts if text.strength is best}
    if len(rivals) > 1:
        # Of two collations of a character set, the one that compares bytes wins.
        charsets = {rival.name.split("_")[0] for rival in rivals}
        binary = [rival for rival in rivals if rival.name.endswith("_bin")]
        if best is not Strength.COLUMN or len(charsets) > 1 or len(rivals) > 2 or len(binary) != 1:
            raise Unknown("texts of different collations with the same right to decide")
        return binary[0], best
    return rivals.pop(), best


def common_type(compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
    """The type of CASE, IF, COALESCE and UNION over these codes, and the codes in it."""
    known = [code.type for code in codes if code.type.family is not Family.NULL]
    if any(code.type.family is Family.NULL and not code.literal and code is not NO_ELSE for code in codes):
        raise Unknown("the type of an expression that is always NULL")
    if not known:
        return NULL, list(codes)
    families = {type_.family for type_ in known}
    if families & TEMPORAL and families & NUMERIC:
        raise Unknown("dates and numbers as one type")
    if len(families) == 1 and families & {Family.DATE, Family.DATETIME}:
        return known[0], list(codes)
    if families == {Family.DATE, Family.DATETIME}:
        return DATETIME, [as_datetime(code) for code in codes]
    if Family.TEXT in families or not families <= {Family.INTEGER, Family.DECIMAL, Family.DOUBLE}:
        texts = [as_text(compiler, code) for code in codes]
        collation, strength = common_collation(texts)
        others = TEMPORAL | {Family.DOUBLE}
        loose = any((code.type.loose and code.type.is_text) or code.type.family in others for code in codes)
        return SqlType(Family.TEXT, collation=collation, strength=strength, loose=loose), texts
    if Family.DOUBLE in families:
        type_ = DOUBLE.but(scale=common_scale(known))
        return type_, [as_double(compiler, code) for code in codes]
    if families == {Family.INTEGER}:
        exact_mix = quirks_of(compiler).mixes_signs_as_decimal
        if quirks_of(compiler).is_old and len({type_.unsigned for type_ in known}) > 1:
            raise Unknown("signed and unsigned integers as one type before MySQL 8")
        return _common_integer(known, codes, exact_mix=exact_mix)
    scale = max(type_.scale or 0 for type_ in known)
    loose = any(type_.loose for type_ in known)
    return decimal(scale, loose=loose), [as_decimal(code) for code in codes]


def _common_integer(
    types: Sequence[SqlType], codes: Sequence[Code], *, exact_mix: bool
) -> tuple[SqlType, list[Code]]:
    if all(type_.unsigned for type_ in types):
        if exact_mix and any(code.type.family is Family.NULL and code.literal for code in codes):
            raise Unknown("unsigned integers and a bare NULL as one type")
        return UNSIGNED.but(bits=max(type_.bits for type_ in types)), list(codes)
    if any(type_.unsigned and (type_.bits == 64 or exact_mix) for type_ in types):
        return decimal(0), [as_decimal(code) for code in codes]
    bits = max(type_.bits + 1 if type_.unsigned else type_.bits for type_ in types)
    return INTEGER.but(bits=32 if bits <= 32 else 64), list(codes)
