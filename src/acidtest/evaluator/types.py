"""Static types of expressions: what a DBMS knows of a value before it sees one."""

from dataclasses import dataclass, replace
from enum import StrEnum

from acidtest.evaluator.collations import BINARY, Collation


class Family(StrEnum):
    """Kinds of values that behave alike."""

    NULL = "null"  # the type of a bare NULL
    LITERAL = "literal"  # PostgreSQL's `unknown`: a quoted literal that takes its type from its surroundings
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    TEXT = "text"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    DYNAMIC = "dynamic"  # SQLite's expressions: each value brings its own type
    OPAQUE = "opaque"  # not modelled: may be read and shown, nothing else


NUMERIC = frozenset({Family.INTEGER, Family.DECIMAL, Family.DOUBLE})
TEMPORAL = frozenset({Family.DATE, Family.DATETIME, Family.TIME})


class Strength(StrEnum):
    """Whose collation wins when two strings meet (MySQL calls it coercibility)."""

    EXPLICIT = "explicit"  # a COLLATE clause
    NONE = "none"  # a concatenation of columns whose collations differ
    COLUMN = "column"
    LITERAL = "literal"
    CONVERTED = "converted"  # a number or a date turned into text
    IGNORABLE = "ignorable"  # NULL


@dataclass(frozen=True, slots=True)
class SqlType:
    """A static type. Fields that a family does not use keep their defaults.

    `scale` of a DOUBLE: it is printed with that many decimals; None prints all digits.
    `loose`: a decimal whose value may carry more digits than `scale` until it is sent or stored; a text whose
    value as a number is not the number that it spells.
    `ragged`: a decimal that is printed with the decimals of the value, not of the type.
    `logical`: an integer that is the outcome of a condition. `padded`: CHAR(n).
    """

    family: Family
    bits: int = 64
    unsigned: bool = False
    precision: int | None = None
    scale: int | None = None
    length: int | None = None
    padded: bool = False
    varying: bool = False  # PostgreSQL tells varchar from text
    collation: Collation = BINARY
    strength: Strength = Strength.IGNORABLE
    loose: bool = False
    ragged: bool = False
    logical: bool = False

    @property
    def is_numeric(self) -> bool:
        return self.family in NUMERIC

    @property
    def is_temporal(self) -> bool:
        return self.family in TEMPORAL

    @property
    def is_text(self) -> bool:
        return self.family is Family.TEXT

    def but(self, **changes: object) -> "SqlType":
        """The same type with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def integer_bounds(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer type."""
        if self.unsigned:
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1


NULL = SqlType(Family.NULL)
BOOLEAN = SqlType(Family.BOOLEAN)
INTEGER = SqlType(Family.INTEGER, scale=0)
UNSIGNED = SqlType(Family.INTEGER, scale=0, unsigned=True)
LOGICAL = SqlType(Family.INTEGER, scale=0, logical=True)
DOUBLE = SqlType(Family.DOUBLE)
DATE = SqlType(Family.DATE)
DATETIME = SqlType(Family.DATETIME)
TIME = SqlType(Family.TIME)
OPAQUE = SqlType(Family.OPAQUE)


def decimal(scale: int | None, *, precision: int | None = None, loose: bool = False) -> SqlType:
    """A DECIMAL; without a scale, values carry their own (PostgreSQL's unconstrained numeric)."""
    return SqlType(Family.DECIMAL, scale=scale, precision=precision, loose=loose)
