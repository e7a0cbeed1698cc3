"""Types: those of columns and casts, how literals get theirs, what converts implicitly.

https://www.postgresql.org/docs/current/typeconv.html
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from acidtest.evaluator.code import Code, Convert
from acidtest.evaluator.code import constant as constant_code
from acidtest.evaluator.collations import postgres_collation
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.postgres import values
from acidtest.evaluator.types import (
    BOOLEAN,
    DATE,
    DATETIME,
    DOUBLE,
    INTEGER,
    Family,
    SqlType,
    Strength,
    decimal,
)
from acidtest.model import Column, ErrorKind

INT2, INT4, INT8 = (INTEGER.but(bits=bits) for bits in (16, 32, 64))
NUMERIC = decimal(None)
UNTYPED = frozenset({Family.LITERAL, Family.NULL})

_SPELLING = re.compile(r"([a-z0-9_ ]+?)\s*(?:\((\d+)(?:,\s*(\d+))?\))?((?: without time zone)?)", re.ASCII)
_PLAIN = {
    "smallint": INT2,
    "int2": INT2,
    "integer": INT4,
    "int": INT4,
    "int4": INT4,
    "bigint": INT8,
    "int8": INT8,
    "boolean": BOOLEAN,
    "bool": BOOLEAN,
    "double precision": DOUBLE,
    "float8": DOUBLE,
    "date": DATE,
}


@lru_cache(maxsize=1024)
def type_of_spelling(spelling: str, collation: str) -> SqlType:
    """A type by the name that `format_type` gives it."""
    match = _SPELLING.fullmatch(spelling.strip().lower())
    if match is None:
        raise Unknown(f"columns of type {spelling}")
    name, first, second, zone = match[1].strip(), match[2], match[3], match[4]
    if name in _PLAIN and first is None:
        return _PLAIN[name]
    if name in ("numeric", "decimal"):
        return NUMERIC if first is None else decimal(int(second or 0), precision=int(first))
    if name in ("timestamp", "timestamp without time zone") and (first is None or zone):
        return DATETIME
    text = SqlType(Family.TEXT, collation=postgres_collation(collation), strength=Strength.COLUMN)
    if name == "text":
        return text
    if name in ("character varying", "varchar"):
        return text.but(varying=True, length=int(first) if first else None)
    if name in ("character", "char", "bpchar"):
        length = int(first) if first else (None if name == "bpchar" else 1)
        return text.but(padded=True, length=length)
    raise Unknown(f"columns of type {spelling}")


def stored_type(column: Column, default_collation: str) -> SqlType:
    """The type of a column of the catalog."""
    return type_of_spelling(column.type, column.collation or default_collation)


def default_collation(compiler: Compiler) -> str:
    """The collation of the database."""
    return compiler.dialect.settings.database_collation or "C"


def text_type(compiler: Compiler) -> SqlType:
    """Plain text."""
    return type_of_spelling("text", default_collation(compiler))


def mismatch(detail: str = "") -> EvaluationError:
    """Error 42804: types that do not go together."""
    return EvaluationError(ErrorKind.BAD_VALUE, f"datatype mismatch {detail}")


def no_operator(detail: str = "") -> EvaluationError:
    """Error 42883: no operator or function for these types."""
    return EvaluationError(ErrorKind.NO_SUCH_OBJECT, f"operator does not exist {detail}")


_READERS: dict[Family, Callable[[str], Any]] = {
    Family.BOOLEAN: values.text_to_boolean,
    Family.DECIMAL: values.text_to_numeric,
    Family.DOUBLE: values.text_to_double,
    Family.DATE: values.text_to_date,
    Family.DATETIME: values.text_to_timestamp,
}


def reader(type_: SqlType) -> Callable[[str], Any]:
    """How a text becomes a value of a type, without its length or precision."""
    if type_.family is Family.INTEGER:
        return lambda text: values.text_to_integer(text, type_.bits)
    if type_.family is Family.TEXT:
        return str
    found = _READERS.get(type_.family)
    if found is None:
        raise Unknown(f"a literal as {type_.family}")
    return found


def settle(code: Code, type_: SqlType) -> Code:
    """A literal as a value of the type that its surroundings give it, read before anything is planned."""
    if code.type.family not in UNTYPED:
        return code
    bare = type_.but(
        length=None, precision=None, scale=None if type_.family is Family.DECIMAL else type_.scale
    )
    read = reader(bare)
    text = code.fn(())
    value = None if text is None else read(text)
    return constant_code(bare, value)


def as_text(compiler: Compiler, code: Code) -> Code:
    """An implicit or explicit conversion to text: CHAR loses its padding."""
    if code.type.family in UNTYPED:
        return settle(code, text_type(compiler))
    if code.type.is_text:
        if code.type.padded:
            return code.then(text_type(compiler), lambda text: text.rstrip(" "))
        return code.typed(code.type.but(varying=False, length=None))
    if code.type.family in (Family.OPAQUE, Family.TIME):
        raise Unknown("types that are not modelled, as text")
    return code.then(text_type(compiler), values.to_text)


_RANK = {Family.INTEGER: 0, Family.DECIMAL: 1, Family.DOUBLE: 2}


def as_number(code: Code, family: Family) -> Code:
    """A number in a wider numeric type."""
    own = code.type.family
    if own is family:
        return code
    if family is Family.DECIMAL and own is Family.INTEGER:
        return code.then(NUMERIC, lambda value: Decimal(int(value)))
    if family is Family.DOUBLE and own in _RANK:
        return code.then(DOUBLE, float)
    raise no_operator(f"{own} as {family}")


def widest(codes: Sequence[Code]) -> Family:
    """The numeric family that all of these convert to."""
    return max((code.type.family for code in codes), key=lambda family: _RANK[family])


def as_timestamp(code: Code) -> Code:
    """A date as the start of its day."""
    if code.type.family is Family.DATE:
        return code.then(DATETIME, lambda value: datetime.combine(value, time()))
    return code


def _category(type_: SqlType) -> str:
    if type_.is_numeric:
        return "number"
    if type_.family in (Family.DATE, Family.DATETIME):
        return "date"
    if type_.family is Family.OPAQUE:
        raise Unknown("types that are not modelled")
    return str(type_.family)


def common_type(compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
    """The type of CASE, COALESCE, GREATEST and UNION over these codes, and the codes in it."""
    known = [code.type for code in codes if code.type.family not in UNTYPED]
    if not known:
        target = text_type(compiler)
        return target, [settle(code, target) for code in codes]
    if len({_category(type_) for type_ in known}) > 1:
        raise mismatch("types cannot be matched")
    target = _widest_type(known)
    return target, [convert(compiler, settle(code, target), target) for code in codes]


def _widest_type(known: Sequence[SqlType]) -> SqlType:
    first = known[0]
    if first.is_numeric:
        family = max((type_.family for type_ in known), key=lambda item: _RANK[item])
        if family is Family.INTEGER:
            return INTEGER.but(bits=max(type_.bits for type_ in known))
        return NUMERIC if family is Family.DECIMAL else DOUBLE
    if first.family in (Family.DATE, Family.DATETIME):
        return DATETIME if any(type_.family is Family.DATETIME for type_ in known) else DATE
    if first.is_text:
        if len({type_.collation for type_ in known}) > 1:
            raise Unknown("texts of different collations")
        # Texts convert to each other implicitly both ways, so the first one's type stays.
        return first if all(type_ == first for type_ in known) else first.but(length=None)
    return first


def convert(compiler: Compiler, code: Code, target: SqlType) -> Code:
    """An implicit conversion within a category."""
    if target.is_numeric:
        return as_number(code, target.family).typed(target)
    if target.family is Family.DATETIME:
        return as_timestamp(code)
    if target.is_text and not target.padded and code.type.padded:
        return as_text(compiler, code).typed(target)
    return code.typed(target)


def fit(target: SqlType, *, explicit: bool) -> Convert | None:
    """Length and precision: an explicit cast cuts a text that is too long, an assignment refuses it."""
    if target.family is Family.DECIMAL and target.precision is not None:
        return _numeric_fitter(target.precision, target.scale or 0)
    if target.is_text and target.length is not None:
        return _text_fitter(target.length, padded=target.padded, explicit=explicit)
    return None


def _numeric_fitter(precision: int, scale: int) -> Convert:
    limit = Decimal(10) ** (precision - scale)

    def convert_value(value: Decimal) -> Decimal:
        rounded = values.rescale(value, scale)
        if rounded.copy_abs() >= limit:
            raise values.out_of_range()
        return rounded

    return convert_value


def _text_fitter(length: int, *, padded: bool, explicit: bool) -> Convert:
    def convert_value(text: str) -> str:
        if len(text) > length:
            if not explicit and text[length:].strip(" "):
                raise EvaluationError(ErrorKind.TRUNCATION, "value too long")
            text = text[:length]
        return text.ljust(length) if padded else text

    return convert_value
