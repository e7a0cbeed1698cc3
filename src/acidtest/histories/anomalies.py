"""What a history shows to be wrong, as data: names, and the witness of each."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.model import Phenomenon

Key = int | str
Value = int | str | float | bool | None


class Flaw(StrEnum):
    """What is wrong with a history and has no name of Adya's or Berenson's; the worst come first."""

    DUPLICATE_ELEMENTS = "duplicate-elements"
    CYCLIC_VERSIONS = "cyclic-versions"
    THIN_AIR_READ = "thin-air-read"
    INCOMPATIBLE_ORDER = "incompatible-order"
    DIRTY_UPDATE = "dirty-update"
    FUTURE_READ = "future-read"
    NOT_MY_OWN_WRITE = "not-my-own-write"
    NOT_MY_LAST_WRITE = "not-my-last-write"
    NON_MONOTONIC_READ = "non-monotonic-read"
    FRACTURED_READ = "fractured-read"
    CAUSALITY = "causality-violation"

    @property
    def words(self) -> str:
        """What it is, in words."""
        return _WORDS[self]


_WORDS = {
    Flaw.DUPLICATE_ELEMENTS: "a list holds an element twice",
    Flaw.CYCLIC_VERSIONS: "the versions of a key follow each other in a circle",
    Flaw.THIN_AIR_READ: "a value was read that nobody wrote",
    Flaw.INCOMPATIBLE_ORDER: "two reads of a key contradict each other about the order of its versions",
    Flaw.DIRTY_UPDATE: "a committed version was built on an aborted one",
    Flaw.FUTURE_READ: "a transaction read what it wrote only later",
    Flaw.NOT_MY_OWN_WRITE: "a transaction did not read what it had written itself",
    Flaw.NOT_MY_LAST_WRITE: "a transaction read an older one of its own writes",
    Flaw.NON_MONOTONIC_READ: "a transaction saw another's writes and then missed them",
    Flaw.FRACTURED_READ: "a transaction saw a part of another's writes",
    Flaw.CAUSALITY: "a transaction missed a write that came before it in causal order",
}


class Basis(StrEnum):
    """Which orders a cycle leans on besides the data; the value is what the name of the anomaly ends in."""

    DATA = ""
    SESSION = "-process"
    REALTIME = "-realtime"


BASES = (Basis.DATA, Basis.SESSION, Basis.REALTIME)


class Relation(StrEnum):
    """Why one transaction comes before another."""

    WW = "ww"  # the target wrote the next version of what the source wrote
    WR = "wr"  # the target read what the source wrote
    RW = "rw"  # the target wrote the next version of what the source read
    SESSION = "session"  # the same session ran them one after the other
    REALTIME = "realtime"  # the source ended before the target began
    COMMIT = "commit"  # the source has to be committed first, or a third transaction reads stale data


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a cycle, with its evidence.

    `value` is the version of `key` that the source wrote or read, `successor` the one that the target wrote.
    `reader`: whose read of `value` shows that the source must be committed first (COMMIT only).
    """

    relation: Relation
    source: int
    target: int
    key: Key | None = None
    value: Value = None
    successor: Value = None
    reader: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What one transaction saw of a key. `writer` wrote it, if anybody did; `other` saw something else.

    `expected` is what it should have seen, as far as that is known.
    """

    transaction: int
    key: Key
    value: object
    writer: int | None = None
    other: int | None = None
    expected: object = None


@dataclass(frozen=True, slots=True)
class Anomaly:
    """An anomaly and one witness: a cycle, or an observation. `count` says how often it was seen.

    Cycles are not counted: of each kind the search keeps one of the shortest.
    """

    name: Phenomenon | Flaw
    basis: Basis = Basis.DATA
    cycle: tuple[Link, ...] = ()
    observation: Observation | None = None
    count: int = 1

    @property
    def label(self) -> str:
        """The name as Elle has it, for instance `G-single-realtime`."""
        return f"{self.name.value}{self.basis.value}"

    @property
    def words(self) -> str:
        """What it is called in words."""
        return self.name.words


_BY_RULE = (Flaw.NON_MONOTONIC_READ, Flaw.FRACTURED_READ, Flaw.CAUSALITY)


def severity(anomaly: Anomaly) -> tuple[int, int]:
    """Sorts the worst first: data before sessions before real time, and last what only a rule infers."""
    flaws = [flaw for flaw in Flaw if flaw not in _BY_RULE]
    names: list[Phenomenon | Flaw] = [*flaws, *Phenomenon, *_BY_RULE]
    return BASES.index(anomaly.basis), names.index(anomaly.name)
