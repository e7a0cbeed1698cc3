"""What makes two violations the same bug, as typed data.

A signature is told from a history and a violation alone and names no DBMS, level, table, value or oracle:
where a bug was seen is a sighting of its finding. A violation that a known deviation explains is that
deviation, whatever it looks like. While a case is big, accidental writes show as causes; so a smaller case
may have fewer (`may_become`), and nothing else of the signature may change.
"""

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from acidtest.findings.deeds import Deed, deeds_before
from acidtest.findings.places import (
    Moment,
    Since,
    StatementClass,
    is_stored,
    is_torn,
    moment_of,
    since_of,
    statement_class,
)
from acidtest.model import (
    ComparisonWitness,
    CountWitness,
    CrashWitness,
    CycleWitness,
    DependencyKind,
    DifferenceKind,
    ErrorKind,
    ErrorWitness,
    Failed,
    History,
    Hold,
    OrdersWitness,
    Phenomenon,
    Reason,
    Rows,
    RowsWitness,
    StateWitness,
    UntransactedWitness,
    Verdict,
    Violation,
    ViolationKind,
    WaitWitness,
)


class Sight(StrEnum):
    """What wrong rows come to, whatever the verbs: which side of a row shows is an accident."""

    OWN = "own writes are not seen"
    DIRTY = "what is not committed shows"
    ABORTED = "what was rolled back shows"
    MADE_UP = "rows that nobody wrote show"
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
        """What it comes to."""
        return min((one.sight for one in self.reasons), key=list(Sight).index, default=Sight.ORDER)

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


@dataclass(frozen=True, slots=True)
class Cause:
    """What is taken for one cause: a deviation, or all that goes wrong in the same way.

    A wait that is missing is the same whoever should have waited; a read that shows what is wrongly stored
    is the same as a wrong final state.
    """

    explained_by: tuple[str, ...] = ()
    kind: ViolationKind | None = None
    phenomenon: Phenomenon | None = None
    sight: Sight | None = None
    part: Part | None = None
    statement: StatementClass = StatementClass.NONE
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """`part` is what is wrong, `statement` the kind of statement at which it shows; `own` and `others` are
    the writes of the transaction itself and of others that went before it or fell into its wait."""

    kind: ViolationKind
    part: Part
    statement: StatementClass = StatementClass.NONE
    waited: bool = False
    phenomenon: Phenomenon | None = None
    own: frozenset[Deed] = frozenset()
    others: frozenset[Deed] = frozenset()
    explained_by: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause:
        """What it is grouped by."""
        if self.explained_by:
            return Cause(explained_by=self.explained_by)
        match self.part:
            case WrongRows(stored=True) as part:
                return Cause(
                    kind=ViolationKind.WRONG_FINAL_STATE,
                    sight=part.sight,
                    statement=StatementClass.FINAL_STATE,
                )
            case WrongRows() as part:
                return Cause(kind=self.kind, sight=part.sight, statement=self.statement, waited=self.waited)
            case MissingWait() as part:
                return Cause(kind=self.kind, part=part)
            case part:
                return Cause((), self.kind, self.phenomenon, None, part, self.statement, self.waited)

    @property
    def digest(self) -> str:
        """A short name: of the deviation if one explains it, else of everything."""
        return _digest(self.cause if self.explained_by else self)

    def is_same(self, other: "Signature") -> bool:
        """Whether it is the same bug for sure."""
        if self.explained_by or other.explained_by:
            return self.explained_by == other.explained_by
        return self == other

    def may_become(self, other: "Signature") -> bool:
        """Whether a smaller case with that signature can still be the same bug: nothing new has come in. That
        an update was one of a key may have been an accident."""
        return (
            self.looks_like(other) and _may_lose(self.own, other.own) and _may_lose(self.others, other.others)
        )

    def looks_like(self, other: "Signature") -> bool:
        """Whether the same went wrong at the same kind of statement, whatever the causes."""
        if self.explained_by != other.explained_by or type(self.part) is not type(other.part):
            return False
        same_part = (
            self.part.may_become(other.part)
            if isinstance(self.part, WrongRows) and isinstance(other.part, WrongRows)
            else self.part == other.part
        )
        return same_part and (self.kind, self.phenomenon, self.statement, self.waited) == (
            other.kind,
            other.phenomenon,
            other.statement,
            other.waited,
        )

    @property
    def causes(self) -> int:
        """How many different things went before it."""
        return len(self.own) + len(self.others)


def _may_lose(before: frozenset[Deed], after: frozenset[Deed]) -> bool:
    return after <= before | {replace(one, of_key=False) for one in before}


def _digest(data: object) -> str:
    return hashlib.sha256(_canonical(data).encode()).hexdigest()[:8]


def _canonical(data: object) -> str:
    """A text that is the same for equal data, whatever the order of sets."""
    if isinstance(data, frozenset):
        return f"{{{','.join(sorted(map(_canonical, data)))}}}"
    if isinstance(data, tuple):
        return f"({','.join(map(_canonical, data))})"
    if isinstance(data, StrEnum):
        return data.name
    if hasattr(data, "__dataclass_fields__"):
        parts = (f"{name}={_canonical(getattr(data, name))}" for name in data.__dataclass_fields__)
        return f"{type(data).__name__}({','.join(parts)})"
    return repr(data)


# -- from a verdict


def signature_of(history: History, verdict: Verdict) -> Signature:
    """The signature of a violation."""
    violation = verdict.violation
    assert violation is not None
    part = _part(history, violation)
    explained = tuple(sorted(one.id for one in violation.explained_by))
    if isinstance(part, Crash):
        return Signature(violation.kind, part, StatementClass.SERVER, explained_by=explained)
    record = None if violation.step is None else history.records[violation.step]
    own, others = deeds_before(history, record, violation.witness)
    return Signature(
        kind=violation.kind,
        part=part,
        statement=statement_class(history, record),
        waited=record is not None and record.waited,
        phenomenon=violation.phenomenon,
        own=own,
        others=others,
        explained_by=explained,
    )


def _part(history: History, violation: Violation) -> Part:
    match violation.witness:
        case RowsWitness() | StateWitness() as witness:
            return _wrong_rows(history, violation, witness)
        case CountWitness() as witness:
            return WrongCount(witness.observed > max(witness.expected, default=0))
        case ErrorWitness() as witness:
            return WrongError(witness.expected, witness.observed)
        case WaitWitness() as witness:
            return MissingWait(witness.hold, witness.early)
        case CycleWitness() as witness:
            return Cycle(_rotated(tuple(one.kind for one in witness.dependencies)))
        case OrdersWitness():
            return NoOrder()
        case CrashWitness() as witness:
            return Crash(witness.died, None if witness.died else witness.error, "", witness.transactional)
        case UntransactedWitness() as witness:
            return Untransacted(_difference(witness), witness.transactional)
        case ComparisonWitness() as witness:
            wrong = [one.target for one in witness.breaches]
            kind = witness.differences[0].kind
            return Differs(kind, history.target in wrong, witness.other.target in wrong)


def _wrong_rows(history: History, violation: Violation, witness: RowsWitness | StateWitness) -> WrongRows:
    return WrongRows(
        frozenset(
            RowReason(one.extra, one.reason, since_of(history, violation.step, one))
            for one in witness.differences
        ),
        stored=None if violation.step is None else is_stored(history, violation.step, witness),
        torn=is_torn(history, witness),
        moment=moment_of(history, violation.step, witness),
    )


def _difference(witness: UntransactedWitness) -> DifferenceKind:
    if witness.table:
        return DifferenceKind.STATE
    if isinstance(witness.expected, Failed) or isinstance(witness.observed, Failed):
        return DifferenceKind.ERROR
    return DifferenceKind.ROWS if isinstance(witness.expected, Rows) else DifferenceKind.COUNT


def _rotated(kinds: tuple[DependencyKind, ...]) -> tuple[DependencyKind, ...]:
    return min((kinds[i:] + kinds[:i] for i in range(len(kinds))), default=())
