"""What an oracle says of a history: pass, violation with its witness, or unknown with the reason."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.model.value import Row


class Judgement(StrEnum):
    """Unknown is never hidden in pass."""

    PASS = "pass"
    VIOLATION = "violation"
    UNKNOWN = "unknown"


class ViolationKind(StrEnum):
    """What is wrong, as a DBMS developer would put it."""

    MISSING_BLOCK = "missing block"  # it had to wait (or be refused) and was not
    WRONG_ROWS = "wrong rows"
    WRONG_AFFECTED_COUNT = "wrong affected count"
    WRONG_ERROR = "wrong error"  # an error that must not be, or one that must be and is not
    WRONG_FINAL_STATE = "wrong final state"
    NOT_SERIALIZABLE = "not serializable"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that is there and should not be (`extra`), or should be and is not, and what explains it."""

    row: Row
    extra: bool
    why: str
    table: str = ""


@dataclass(frozen=True, slots=True)
class KnownBehaviour:
    """A documented deviation, or a known bug, whose shape the violation has."""

    name: str
    link: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one oracle on one history. What does not apply is empty."""

    oracle: str
    judgement: Judgement
    kind: ViolationKind | None = None
    step: int | None = None
    anomaly: str = ""
    expected: str = ""
    observed: str = ""
    explanation: str = ""
    differences: tuple[RowDifference, ...] = ()
    known: KnownBehaviour | None = None
