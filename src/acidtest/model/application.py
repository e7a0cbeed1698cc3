"""The vocabulary of application testing: what an application sent, in which order, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from acidtest.model.level import Level
from acidtest.model.outcome import ErrorKind, Outcome, TransactionState
from acidtest.model.phenomenon import Phenomenon
from acidtest.model.schema import Schema, State

RETRYABLE = frozenset(
    {
        ErrorKind.SERIALIZATION_FAILURE,
        ErrorKind.DEADLOCK,
        ErrorKind.LOCK_TIMEOUT,
        ErrorKind.LOCK_NOT_AVAILABLE,
        ErrorKind.RECORD_CHANGED,
        ErrorKind.WRITE_CONFLICT,
    }
)
"""Errors by which a DBMS refuses to go on and asks the application to try again."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where in the application a statement came from."""

    file: str
    line: int
    function: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One statement of an operation: known by its place in the operation, not by its text.

    `sql` holds the values of its parameters. `turn` is its place in the order in which statements of all
    operations were let through; `ended` its place in the order in which they were answered.
    """

    operation: str
    index: int
    session: str
    sql: str
    outcome: Outcome
    before: TransactionState
    after: TransactionState
    turn: int
    ended: int
    source: SourceLine | None = None
    waited: bool = False
    blocked_by: tuple[str, ...] = ()


class End(StrEnum):
    """How an operation came to its end."""

    RETURNED = "returned"
    RAISED = "raised"
    HUNG = "hung"  # neither at the gate, nor at its end, nor waiting at the server
    DIED = "died"  # its worker ended without a result
    STOPPED = "stopped"  # by acidtest, to see what is left behind


@dataclass(frozen=True, slots=True)
class Result:
    """What an operation returned or raised: `value` in a form that can be compared and stored."""

    end: End
    value: object = None
    error: str = ""
    """The class of what it raised."""
    message: str = ""
    kind: ErrorKind | None = None
    """What the error means, if it came from the DBMS."""
    attempts: int = 1

    @property
    def refused(self) -> bool:
        """Whether the DBMS refused to go on, and the application did not try again."""
        return self.end is End.RAISED and self.kind in RETRYABLE


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of an order: this operation, until so many of its statements have passed; None: to its end."""

    operation: str
    upto: int | None = None


Order = tuple[Segment, ...]
"""Which operation runs when. What is left when all segments are through runs as it comes."""


@dataclass(frozen=True, slots=True)
class Prevention:
    """An order that could not happen: a statement had to wait for other operations. Without a statement, the
    operation waited for something outside the database."""

    operation: str
    index: int
    sql: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Breach:
    """A promise of the user that did not hold: an invariant, by its words, and what it said."""

    invariant: str
    detail: str
    after: int | None = None
    """The turn after which it was seen; None: at the end."""


@dataclass(frozen=True, slots=True)
class ForcedRun:
    """What came of one order: the calls by turn, each operation's result, and the final state."""

    order: Order
    calls: tuple[Call, ...]
    results: Mapping[str, Result]
    final: State
    prevented: Prevention | None = None
    breaches: tuple[Breach, ...] = ()
    server_died: bool = False
    seconds: float = 0.0
    hold_lost: bool = False
    """Whether acidtest was to hold an operation in one transaction, and could not."""

    def of(self, operation: str) -> tuple[Call, ...]:
        """The calls of one operation, in its own order."""
        return tuple(sorted((c for c in self.calls if c.operation == operation), key=lambda c: c.index))


class Judgement(StrEnum):
    """What exploring showed."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"


class Reason(StrEnum):
    """Why an interleaving is wrong."""

    STATE = "state"  # no serial order leaves these rows
    RESULT = "result"  # no serial order gives these results, or this error
    INVARIANT = "invariant"


class Nature(StrEnum):
    """What kind of remedy can help at all."""

    LEVEL = "level"  # a stronger isolation level or a lock
    SCOPE = "scope"  # only another transaction boundary, a second check or an atomic statement
    UNKNOWN = "unknown"


class Tried(StrEnum):
    """What became of a remedy."""

    HELD = "held"
    FAILED = "failed"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that was tried at the gate, without touching the application."""

    name: str
    detail: str
    tried: Tried
    runs: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class LevelResult:
    """The same order at a level: whether it still goes wrong, and what stopped it."""

    level: Level
    violated: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A table whose rows no serial order leaves: rows that are there, and rows of the nearest serial
    order."""

    table: str
    columns: tuple[str, ...]
    observed: tuple[tuple[object, ...], ...]
    serial: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Race:
    """An interleaving that breaks the data, and all that was found out about it."""

    run: ForcedRun
    reasons: tuple[Reason, ...]
    differences: tuple[Difference, ...]
    serials: Mapping[str, ForcedRun]
    """What the serial orders gave, by names such as A-B."""
    phenomenon: Phenomenon | None = None
    nature: Nature = Nature.UNKNOWN
    levels: tuple[LevelResult, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    replay: str = ""
    case: str = ""
    """A case file of plain SQL that shows the same."""
    case_problem: str = ""
    """Why there is no case file."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much was explored: orders that can differ by analysis, those that ran, and what was left."""

    candidates: int = 0
    runs: int = 0
    prevented: int = 0
    refused: int = 0
    unexplored: int = 0
    seconds: float = 0.0
    bound: int | None = None
    """Preemptions allowed, where all orders up to a bound were asked for."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """The answer to: which interleavings of these operations break the data?"""

    operations: tuple[str, ...]
    target: str
    dbms: str
    version: str
    level: Level | None
    judgement: Judgement
    coverage: Coverage
    race: Race | None = None
    why: tuple[str, ...] = ()
    """Why it is inconclusive; or of what is safe, the assumptions."""
    safe_by_analysis: bool = False
    notes: tuple[str, ...] = ()
    schema: Schema = field(default_factory=Schema)
    initial: State = field(default_factory=dict)
    at_levels: Mapping[str, Judgement] = field(default_factory=dict)
