"""A trace: what transactions read and wrote, as versions of objects, and the fate of each transaction.

The replay walk makes one, an instrumented run can, and so can somebody else's history. Whoever makes it has
decided which versions change the matches of a condition; `graph/` only follows the dependencies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from acidtest.model.value import Row


class Fate(StrEnum):
    """What became of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"
    INDETERMINATE = "indeterminate"  # its COMMIT was sent, and nobody knows what became of it


class ObjectId(NamedTuple):
    """Something that has versions: a row of a table by a number that never changes, or a key."""

    table: str
    row: int | str


class TraceVersion(NamedTuple):
    """A version of an object: who wrote it, by which step, and what it held (None: a tombstone)."""

    object: ObjectId
    writer: int
    step: int | None
    values: Row | None = None


INITIAL_WRITER = 0
"""The writer of what was there before; it is no transaction of the trace."""


class Purpose(StrEnum):
    """What a statement looks at rows for."""

    ANSWER = "answer"  # to answer the client
    CHOICE = "choice"  # to choose the rows that it writes
    VALUE = "value"  # to work out what it writes into other rows


@dataclass(frozen=True, slots=True)
class Read:
    """A step saw this version. `committed`: whether its writer had committed by then."""

    step: int
    version: TraceVersion
    committed: bool = True
    exact: bool = True
    """Whether the step surely depends on it; False where a row was only one of many that were looked at."""
    purpose: Purpose = Purpose.ANSWER


@dataclass(frozen=True, slots=True)
class PredicateRead:
    """A step looked for the rows that meet a condition.

    `seen` and `matched` say what it saw. `made_by`: versions among these by which a row left the condition.
    `changed_by`: of each row the first later version that changed whether it meets the condition. Both count
    what transactions left at their end; statements also change in between what meets it, which `meets` tells.
    """

    step: int
    table: str
    condition: str
    matched: frozenset[ObjectId]
    seen: Mapping[ObjectId, TraceVersion]
    made_by: tuple[TraceVersion, ...] = ()
    changed_by: tuple[TraceVersion, ...] = ()
    exact: bool = True
    purpose: Purpose = Purpose.ANSWER
    meets: frozenset[TraceVersion] | None = None
    """All versions of the table's rows that meet the condition; None: that is not known."""


@dataclass(frozen=True, slots=True)
class Write:
    """A step installed this version, if its transaction committed."""

    step: int
    version: TraceVersion


Operation = Read | PredicateRead | Write


class Span(NamedTuple):
    """Something that happened at one moment between two places in one order of time, these included."""

    earliest: int
    latest: int

    def is_before(self, other: "Span") -> bool:
        """Whether it surely happened before the other."""
        return self.latest < other.earliest


@dataclass(frozen=True, slots=True)
class TxTrace:
    """One transaction. `began`: when it took its snapshot, or else began; `ended`: when it committed.
    `took_back`: it rolled back to a savepoint, and its operations lack what it had written since."""

    id: int
    session: str
    fate: Fate
    operations: tuple[Operation, ...]
    began: Span | None = None
    ended: Span | None = None
    took_back: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """Transactions in the order in which they began, and the order of the committed versions of each object.

    `gaps` says what the trace leaves out; a cycle may be missing from a trace with gaps, none is made up.
    """

    transactions: tuple[TxTrace, ...]
    order: Mapping[ObjectId, tuple[TraceVersion, ...]]
    gaps: tuple[str, ...] = ()


class DependencyKind(StrEnum):
    """Adya's direct dependencies, and the orders that go with them in some phenomena."""

    WW = "ww"
    WR = "wr"
    RW = "rw"
    WR_PREDICATE = "wr-predicate"
    RW_PREDICATE = "rw-predicate"
    SESSION = "session"  # the same session ran one after the other
    REAL_TIME = "real-time"  # one had ended before the other began: Adya's start-dependency

    @property
    def is_anti(self) -> bool:
        """Whether the target overwrote what the source had read."""
        return self in (DependencyKind.RW, DependencyKind.RW_PREDICATE)


@dataclass(frozen=True, slots=True)
class Dependency:
    """Transaction `target` depends on `source`. The evidence: the version it is about (an order in time has
    none), and the two steps."""

    kind: DependencyKind
    source: int
    target: int
    version: TraceVersion | None
    source_step: int | None
    target_step: int | None
    exact: bool = True


class StatementDependencyKind(StrEnum):
    """TxCheck's seven dependencies between statements (Jiang et al., OSDI 2023, appendix A)."""

    ITEM_READ = "item-read"
    ITEM_WRITE = "item-write"
    ITEM_ANTI = "item-anti"
    PREDICATE_READ = "predicate-read"
    PREDICATE_WRITE = "predicate-write"
    PREDICATE_ANTI = "predicate-anti"
    VALUE_WRITE = "value-write"


@dataclass(frozen=True, slots=True)
class StatementDependency:
    """The statement at step `target` depends on the one at step `source`: it must come after it.

    The evidence is a version that one of them wrote and the other saw, missed or replaced. Not `exact`: the
    other only may have looked at it.
    """

    kind: StatementDependencyKind
    source: int
    target: int
    source_transaction: int
    target_transaction: int
    version: TraceVersion
    exact: bool = True
