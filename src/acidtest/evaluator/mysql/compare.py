"""What two operands are compared as.

https://dev.mysql.com/doc/refman/en/type-conversion.html; measured where it is silent.
"""

from collections.abc import Sequence
from typing import Any

from acidtest.evaluator.code import Code
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.mysql.types import as_datetime, as_double, common_collation, common_scale
from acidtest.evaluator.mysql.values import round_decimal
from acidtest.evaluator.types import DOUBLE, Family, SqlType

_EXACT_DOUBLES = 1 << 53


def comparables(compiler: Compiler, codes: Sequence[Code]) -> list[Code]:
    """Operands as values that Python compares the way the server does."""
    families = {code.type.family for code in codes} - {Family.NULL}
    if len(codes) > 2 and quirks_of(compiler).is_old and not families <= {Family.TEXT}:
        raise Unknown("BETWEEN before MySQL 8")
    if len(codes) > 2 and any(code.type.loose and not code.type.is_text for code in codes):
        raise Unknown("quotients in BETWEEN, GREATEST or LEAST")
    if families <= {Family.INTEGER, Family.DECIMAL}:
        return [_tight(code) for code in codes]
    if families == {Family.TEXT}:
        collation, _ = common_collation(codes)
        return [_keyed(code, collation.key) for code in codes]
    if families <= {Family.DATE, Family.DATETIME}:
        return [as_datetime(code) for code in codes]
    if families & {Family.DATE, Family.DATETIME}:
        return _with_dates(codes, families)
    if Family.TIME in families:
        raise Unknown("comparisons of TIME")
    if _is_column_against_text(codes):
        return [_guarded(as_double(compiler, code), code) for code in codes]
    if Family.TEXT in families and Family.DOUBLE not in families:
        if any(code.type.loose for code in codes) and any(c.type.is_text and not c.constant for c in codes):
            raise Unknown("quotients compared with texts that are not constant")
        return [as_double(compiler, _tight(code)) for code in codes]
    doubles = [as_double(compiler, code) for code in codes]
    if families and quirks_of(compiler).rounds_to_fixed and common_scale(_types(doubles)) is not None:
        raise Unknown("DOUBLEs with fixed decimals, which are equal if they are close")
    return doubles


def _types(codes: Sequence[Code]) -> list[SqlType]:
    return [code.type for code in codes]


def _tight(code: Code) -> Code:
    """A quotient is compared with the decimals of its type, except with a DOUBLE."""
    if not code.type.loose or code.type.family is not Family.DECIMAL:
        return code
    scale = code.type.scale or 0
    return code.then(code.type.but(loose=False), lambda value: round_decimal(value, scale))


def _keyed(code: Code, key: Any) -> Code:
    return code if code.type.family is Family.NULL else code.then(code.type, key)


def _with_dates(codes: Sequence[Code], families: set[Family]) -> list[Code]:
    # A date against text is compared as a point in time if the text is a constant; else it is not modelled.
    if families - {Family.DATE, Family.DATETIME, Family.TEXT}:
        raise Unknown("dates compared with numbers")
    if any(code.type.is_text and not code.constant for code in codes):
        raise Unknown("dates compared with texts that are not constant")
    return [as_datetime(code) for code in codes]


def _is_column_against_text(codes: Sequence[Code]) -> bool:
    return any(code.column and code.type.family is Family.INTEGER for code in codes) and any(
        code.constant and code.type.is_text for code in codes
    )


def _guarded(converted: Code, original: Code) -> Code:
    """The server turns a constant into the column's integer type first; it matters beyond 53 bits only."""
    if original.type.family is not Family.INTEGER:
        return converted

    def check(value: float) -> float:
        if abs(value) >= _EXACT_DOUBLES:
            raise Unknown("integers beyond 53 bits compared with texts")
        return value

    return converted.then(DOUBLE, check)
