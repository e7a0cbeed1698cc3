"""Where servers of the family differ from each other, each difference measured on the server."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Dialect, Settings
from acidtest.model import ErrorKind


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

    bad_number_text: ErrorKind | None = ErrorKind.BAD_VALUE
    """The error for a text that only starts with a number, stored as DECIMAL or DOUBLE; None: as INT."""

    rounds_conditions: bool = False
    """A number as a condition may be rounded to an integer first, so 0.4 may be FALSE."""

    loses_case_after_null: bool = False
    """A simple CASE finds no further equal value after one that is NULL."""

    is_old: bool = False
    """Before MySQL 8: no WITH, window functions, INTERSECT, CAST to DOUBLE; other types of some functions."""

    blank_text_is_zero: bool = True
    """An empty text as a number is no error in a strict write."""

    references_first: bool = False
    """Foreign keys of a new row are checked before its unique keys; else after the primary key."""

    seeks_by_key: bool = False
    """IN over a subquery misses NULLs if the value does not fit the column's type."""


class QuirkyDialect(Dialect, ABC):
    """A dialect of the family."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.quirks = self.quirks_for(self.settings.version)

    @classmethod
    @abstractmethod
    def quirks_for(cls, version: tuple[int, ...]) -> Quirks:
        """The quirks of a version; none means the newest."""


def quirks_of(compiler: Compiler) -> Quirks:
    """The quirks of the dialect that is compiled for."""
    dialect = compiler.dialect
    if not isinstance(dialect, QuirkyDialect):
        raise TypeError(f"{dialect.name} is no dialect of the MySQL family")
    return dialect.quirks
