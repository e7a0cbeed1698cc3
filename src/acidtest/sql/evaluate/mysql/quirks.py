"""Where servers of the family differ from each other, each difference measured on the server."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from acidtest.model import ErrorKind
from acidtest.sql.evaluate.compiler import Compiler
from acidtest.sql.evaluate.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Quirks:
    """The defaults are MySQL's."""

    division_keeps_digits: bool = False
    """A quotient is computed on with all its digits, and rounded only for the client."""

    narrow_literals: bool = False
    """A short integer literal is an INT, not a BIGINT."""

    folds_signs: bool = False
    """`-(-5)` is an integer; otherwise minus before a negative constant gives a DECIMAL."""

    mixes_signs_as_decimal: bool = False
    """Signed and unsigned integers of any width have DECIMAL as their common type."""

    replaces_lazily: bool = False
    """REPLACE(text, what, NULL) may be the text if there is nothing to replace."""

    keeps_signed_zero: bool = True
    """A DOUBLE prints as -0 where it is one."""

    rounds_to_fixed: bool = False
    """ROUND gives the scale that it was asked for, to DOUBLEs as well, and what is computed from them."""

    branches_keep_decimals: bool = True
    """CASE and IF print a DECIMAL with the decimals of the branch that was taken."""

    confuses_signs_in_lists: bool = True
    """IN takes a negative integer for the unsigned one with the same 64 bits."""

    subject_decides_collation: bool = True
    """REPLACE, TRIM, LPAD and LOCATE compare and answer in the collation of their first text alone."""

    limits_double_text: bool = True
    """A DOUBLE becomes text within the width of its expression, which may cost digits."""

    bad_decimal_text: ErrorKind | None = ErrorKind.BAD_VALUE
    """The error for a text that only starts with a number, stored as DECIMAL; None: as for integers."""

    seeks_by_key: bool = False
    """IN over a subquery misses NULLs if the value does not fit the column's type."""


class QuirkyDialect(Dialect, ABC):
    """A dialect of the family."""

    quirks: ClassVar[Quirks]


def quirks_of(compiler: Compiler) -> Quirks:
    """The quirks of the dialect that is compiled for."""
    dialect = compiler.dialect
    if not isinstance(dialect, QuirkyDialect):
        raise TypeError(f"{dialect.name} is no dialect of the MySQL family")
    return dialect.quirks
