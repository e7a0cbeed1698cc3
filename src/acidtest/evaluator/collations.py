"""Collations as key functions: two strings are equal, or ordered, as their keys are.

Only what is sure is here: printable ASCII everywhere, and any text where the order is that of the code
points. Anything else raises `Unknown`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from acidtest.evaluator.errors import Unknown

# The order of printable ASCII in the default Unicode collation table, which *_unicode_ci, *_0900_* and
# uca1400 collations share; letters are folded before they get here.
_UCA_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_UCA_RANK = {ord(char): chr(rank + 33) for rank, char in enumerate(_UCA_ORDER)}


@dataclass(frozen=True, slots=True)
class Collation:
    """A named rule of comparison. `pads`: trailing spaces do not count. `orders`: the order is known."""

    name: str
    folds_case: bool = False
    pads: bool = False
    unicode_order: bool = False
    orders: bool = True
    case_breaks_ties: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether equal strings are the same string."""
        return not (self.folds_case or self.pads)

    @property
    def key(self) -> Callable[[str], str]:
        """The key of a string for equality and order."""
        return _key_function(self)


BINARY = Collation("binary")


@lru_cache(maxsize=256)
def _key_function(collation: Collation) -> Callable[[str], str]:
    if collation.is_exact and not collation.unicode_order:
        return _itself

    @lru_cache(maxsize=65536)
    def key(text: str) -> str:
        if not (text.isascii() and text.isprintable()):
            raise Unknown(f"how {collation.name} compares characters beyond printable ASCII")
        if collation.pads:
            text = text.rstrip(" ")
        if collation.unicode_order:
            if collation.case_breaks_ties:
                raise Unknown(f"how {collation.name} orders letters of both cases")
            return text.lower().translate(_UCA_RANK)
        return text.upper() if collation.folds_case else text

    return key


def _itself(text: str) -> str:
    return text


@lru_cache(maxsize=256)
def mysql_collation(name: str) -> Collation:
    """A collation of MySQL or MariaDB by its name."""
    lower = name.lower()
    pads = "_0900_" not in lower and "nopad" not in lower and lower != "binary"
    if lower == "binary":
        return BINARY
    if lower.endswith("_bin"):
        return Collation(lower, pads=pads)
    if lower.endswith("_ci"):
        unicode_order = any(mark in lower for mark in ("unicode", "0900", "uca1400"))
        if unicode_order or "general" in lower or lower == "latin1_swedish_ci":
            return Collation(lower, folds_case=True, pads=pads, unicode_order=unicode_order)
    if lower.endswith("_as_cs"):
        return Collation(lower, pads=pads, unicode_order=True, case_breaks_ties=True)
    raise Unknown(f"collation {name}")


@lru_cache(maxsize=256)
def postgres_collation(name: str) -> Collation:
    """A deterministic collation of PostgreSQL: equality is that of bytes, the order is known for C only."""
    return Collation(name, orders=name in ("C", "POSIX", "C.UTF-8", "C.utf8", "ucs_basic", "pg_c_utf8"))
