"""Names of what can go wrong between transactions, from the literature: one vocabulary for the whole project.

G names are Adya's (PhD thesis, MIT 1999). P names are those of Berenson et al. (SIGMOD 1995) in the strict
reading: what a transaction really saw, because a history that merely could have gone wrong did not.
"""

from enum import StrEnum


class Phenomenon(StrEnum):
    """A pattern in a trace, by its short name; the worst come first."""

    G0 = "G0"
    G1A = "G1a"
    G1B = "G1b"
    G1C = "G1c"
    INTERNAL = "internal"
    P1 = "P1"
    G_SIA = "G-SIa"
    P4 = "P4"
    G_CURSOR = "G-cursor"
    G_MONOTONIC = "G-monotonic"
    G_SIB = "G-SIb"
    G_SINGLE = "G-single"
    P2 = "P2"
    P3 = "P3"
    G_NONADJACENT = "G-nonadjacent"
    G2_ITEM = "G2-item"
    G2 = "G2"

    @property
    def words(self) -> str:
        """What it is called in words."""
        return _TITLES[self]

    @property
    def text(self) -> str:
        """Title and short name, with the other paper's name where both have one."""
        other = _ALSO.get(self)
        return f"{self.words} ({self.value}{f', {other}' if other else ''})"

    @classmethod
    def parse(cls, name: str) -> "Phenomenon | None":
        """The phenomenon of a short name in any case, by either paper's name."""
        wanted = name.strip().lower()
        for one in cls:
            if wanted in (one.value.lower(), _ALSO.get(one, "").lower()):
                return one
        return None


_TITLES = {
    Phenomenon.G0: "dirty write",
    Phenomenon.G1A: "aborted read",
    Phenomenon.G1B: "intermediate read",
    Phenomenon.G1C: "circular information flow",
    Phenomenon.INTERNAL: "internal inconsistency",
    Phenomenon.P1: "dirty read",
    Phenomenon.G_SIA: "interference",
    Phenomenon.P4: "lost update",
    Phenomenon.G_CURSOR: "labeled lost update",
    Phenomenon.G_MONOTONIC: "non-monotonic read",
    Phenomenon.G_SIB: "missed effects",
    Phenomenon.G_SINGLE: "read skew",
    Phenomenon.P2: "non-repeatable read",
    Phenomenon.P3: "phantom",
    Phenomenon.G_NONADJACENT: "long fork",
    Phenomenon.G2_ITEM: "write skew",
    Phenomenon.G2: "anti-dependency cycle",
}
_ALSO = {Phenomenon.G0: "P0", Phenomenon.G_SINGLE: "A5A", Phenomenon.G2_ITEM: "A5B"}


class Variant(StrEnum):
    """Which orders besides the dependencies a phenomenon needs (Elle's `-process` and `-realtime`)."""

    PLAIN = "plain"
    SESSION = "session"
    REAL_TIME = "real-time"


READ_COMMITTED = frozenset(
    {
        Phenomenon.G0,
        Phenomenon.G1A,
        Phenomenon.G1B,
        Phenomenon.G1C,
        Phenomenon.P1,
        Phenomenon.INTERNAL,
    }
)
"""What Adya's PL-2 excludes; a transaction sees its own writes at every level."""
MONOTONIC_VIEW = READ_COMMITTED | {Phenomenon.G_MONOTONIC}
"""What PL-2L excludes: every statement sees at least what those before it saw."""
SNAPSHOT = MONOTONIC_VIEW | {
    Phenomenon.G_SIA,
    Phenomenon.G_SIB,
    Phenomenon.P4,
    Phenomenon.G_CURSOR,
    Phenomenon.G_SINGLE,
    Phenomenon.P2,
    Phenomenon.P3,
    Phenomenon.G_NONADJACENT,
}
"""What PL-SI excludes. That anti-dependencies of a cycle follow each other is due to Fekete et al."""
SERIALIZABLE = MONOTONIC_VIEW | {
    Phenomenon.P4,
    Phenomenon.G_CURSOR,
    Phenomenon.G_SINGLE,
    Phenomenon.P2,
    Phenomenon.P3,
    Phenomenon.G_NONADJACENT,
    Phenomenon.G2_ITEM,
    Phenomenon.G2,
}
"""What PL-3 excludes."""
