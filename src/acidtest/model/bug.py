"""What is known of a bug beside its case: who reported it for which versions, and where it was seen."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.model.level import Level


class BugStatus(StrEnum):
    """What the vendor says of it."""

    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    DOCUMENTED = "documented"
    UNCONFIRMED = "unconfirmed"


class BugKind(StrEnum):
    """What goes wrong."""

    WRONG_ROWS = "wrong rows"
    WRONG_STATE = "wrong final state"
    WRONG_ERROR = "wrong error"
    MISSING_BLOCK = "missing block"
    NEEDLESS_BLOCK = "needless block"
    DEADLOCK = "deadlock"
    CRASH = "crash"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where the case was tried: it showed there at these levels, or (none) at no level."""

    target: str
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True, slots=True)
class Bug:
    """The facts of a bug report. `reported` and `fixed` are versions in the words of the tracker."""

    status: BugStatus = BugStatus.UNCONFIRMED
    kind: BugKind | None = None
    reported: str = ""
    fixed: str = ""
    paper: str = ""
    """Who described it first, where a paper did."""
    levels: tuple[Level, ...] = ()
    """Levels at which it was reported."""
    seen: tuple[Sighting, ...] = ()
