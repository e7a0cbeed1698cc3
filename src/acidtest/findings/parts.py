"""What is wrong, as typed data: rows with their reasons, a count, an error, a wait, a cycle, a crash."""

from dataclasses import dataclass
from enum import StrEnum

from acidtest.findings.places import Moment, Since
from acidtest.model import DependencyKind, DifferenceKind, ErrorKind, Hold, Reason


class Sight(StrEnum):
    """What wrong rows come to, whatever the verbs: which side of a row shows is an accident."""

    WRITE = "a write does something else than it must"
    MADE_UP = "rows that nobody wrote show"
    OWN = "own writes are not seen"
    DIRTY = "what is not committed shows"
    ABORTED = "what was rolled back shows"
    REPEATED = "rows show more often than they are there"
    LATER = "what was committed later shows"
    STALE = "what was committed in time does not show"
    MISSING = "rows do not show that nobody has touched"
    UNTRACED = "other values show"
    ORDER = "rows come in another order"


@dataclass(frozen=True, slots=True, order=True)
class RowReason:
    """Why rows are there too many (`extra`) or too few, and who has replaced or deleted them since."""

    extra: bool
    reason: Reason
    since: Since = Since.NOBODY

    @property
    def sight(self) -> Sight:
        """What it comes to."""
        if self.reason in (Reason.DELETED, Reason.REPLACED):
            return Sight.OWN if self.since is Since.SELF else Sight.STALE
        if self.reason in (Reason.COMMITTED, Reason.INITIAL):
            return _HIDDEN_BY.get(self.since) or (
                Sight.STALE if self.reason is Reason.COMMITTED else Sight.MISSING
            )
        return _SIGHTS[self.reason]


_HIDDEN_BY = {Since.OPEN: Sight.DIRTY, Since.OTHER: Sight.LATER}
_SIGHTS = {
    Reason.NEVER_WRITTEN: Sight.MADE_UP,
    Reason.ROLLED_BACK: Sight.ABORTED,
    Reason.UNCOMMITTED: Sight.DIRTY,
    Reason.OWN: Sight.OWN,
    Reason.OWN_REPLACED: Sight.OWN,
    Reason.REPEATED: Sight.REPEATED,
    Reason.LATER: Sight.LATER,
    Reason.DIRTY_COUNTS: Sight.STALE,
    Reason.UNTRACED: Sight.UNTRACED,
}


@dataclass(frozen=True, slots=True)
class WrongRows:
    """Rows of a statement or of the final state. No reason at all: the rows are right, their order is not.

    `stored`: what is wrong stays in the table, so it is not a matter of what a statement may see. `torn`:
    other rows of the same transaction are as they should be. `moment`: when the missing rows were committed.
    """

    reasons: frozenset[RowReason]
    stored: bool | None = None
    torn: bool = False
    moment: Moment | None = None

    @property
    def telling(self) -> RowReason | None:
        """The reason that says most; the others may be the other side of the same row."""
        return min(self.reasons, key=lambda one: (_TELLING.index(one.reason), one), default=None)

    @property
    def sight(self) -> Sight:
        """What it comes to. A row that shows tells what was seen; one that is missing tells it only where no
        other shows in its place, because who has changed it since may have nothing to do with it."""
        shown = [one for one in self.reasons if one.extra]
        return min((one.sight for one in shown or self.reasons), key=list(Sight).index, default=Sight.ORDER)

    def may_become(self, other: "WrongRows") -> bool:
        """Whether fewer rows can be wrong for the same reason."""
        return (
            other.reasons <= self.reasons
            and other.telling == self.telling
            and other.stored == self.stored
            and (self.torn or not other.torn)
            and (other.moment == self.moment or other.moment in (None, Moment.BEFORE_BEGIN))
        )


_TELLING = (
    Reason.NEVER_WRITTEN,
    Reason.ROLLED_BACK,
    Reason.UNCOMMITTED,
    Reason.OWN,
    Reason.OWN_REPLACED,
    Reason.REPEATED,
    Reason.LATER,
    Reason.DIRTY_COUNTS,
    Reason.COMMITTED,
    Reason.DELETED,
    Reason.REPLACED,
    Reason.INITIAL,
    Reason.UNTRACED,
)


@dataclass(frozen=True, slots=True)
class WrongCount:
    """More rows were affected than may be, or fewer."""

    too_many: bool


@dataclass(frozen=True, slots=True)
class WrongError:
    """One of the expected errors had to come (none: success), and another one came (None: success)."""

    expected: frozenset[ErrorKind]
    observed: ErrorKind | None

    @property
    def errors(self) -> frozenset[ErrorKind]:
        """All errors that it is about."""
        return self.expected if self.observed is None else self.expected | {self.observed}


@dataclass(frozen=True, slots=True)
class MissingWait:
    """What somebody else held; `early`: it waited, but not long enough."""

    hold: Hold
    early: bool


@dataclass(frozen=True, slots=True)
class Cycle:
    """The kinds of its dependencies in order, begun so that the smallest comes first."""

    kinds: tuple[DependencyKind, ...]


@dataclass(frozen=True, slots=True)
class NoOrder:
    """No serial order fits."""


@dataclass(frozen=True, slots=True)
class Differs:
    """In what the run differs first from that on another target, and which of them is wrong by itself."""

    kind: DifferenceKind
    here: bool
    there: bool


@dataclass(frozen=True, slots=True)
class Untransacted:
    """In what it differs from a run without transactions, and whether the one with them is wrong."""

    difference: DifferenceKind
    transactional: bool | None


@dataclass(frozen=True, slots=True)
class Crash:
    """The server died, perhaps its process by a signal, or an error came that none should give."""

    died: bool
    error: ErrorKind | None = None
    signal: str = ""
    transactional: bool = True


Part = WrongRows | WrongCount | WrongError | MissingWait | Cycle | NoOrder | Differs | Untransacted | Crash
