"""What makes two violations the same bug, as typed data.

A signature is told from a history and a violation alone and names no DBMS, level, table, value or oracle:
where a bug was seen is a sighting of its finding. A violation that a known deviation explains is that
deviation, whatever it looks like. While a case is big, accidental writes show as causes; so a smaller case
may have fewer (`may_become`), and nothing else of the signature may change.
"""

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from acidtest.findings.cause import Cause, cause_of
from acidtest.findings.deeds import Deed, deeds_before
from acidtest.findings.parts import (
    Crash,
    Cycle,
    Differs,
    MissingWait,
    NoOrder,
    Part,
    RowReason,
    Sight,
    Untransacted,
    WrongCount,
    WrongError,
    WrongRows,
)
from acidtest.findings.places import (
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
    ErrorWitness,
    Failed,
    History,
    OrdersWitness,
    Phenomenon,
    Record,
    Rows,
    RowsWitness,
    StateWitness,
    UntransactedWitness,
    Verdict,
    Violation,
    ViolationKind,
    WaitWitness,
)


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
        return cause_of(
            self.kind, self.part, self.statement, self.waited, self.phenomenon, self.own, self.others
        )

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
        """Whether a smaller case with that signature can still be the same bug: nothing new has come in."""
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
        return (
            same_part
            and self.kind is other.kind
            and self.phenomenon is other.phenomenon
            and self.statement is other.statement
            and (self.waited or not other.waited)
        )

    def may_clear_up_as(self, other: "Signature") -> bool:
        """Whether the same read, where it shows more of its rows, can have that signature: parts of rows are
        easily taken for those of another version. Nobody may have done anything else before it."""
        return (
            self.explained_by == other.explained_by
            and self.kind is other.kind
            and isinstance(self.part, WrongRows)
            and isinstance(other.part, WrongRows)
            and (self.waited or not other.waited)
            and {one.act for one in other.own | other.others} <= {one.act for one in self.own | self.others}
        )

    def without_waits(self) -> "Signature":
        """The same, had nobody waited."""
        return replace(
            self,
            waited=False,
            own=frozenset(map(_unhindered, self.own)),
            others=frozenset(map(_unhindered, self.others)),
        )

    @property
    def causes(self) -> int:
        """How many different things went before it."""
        return len(self.own) + len(self.others)


def _may_lose(before: frozenset[Deed], after: frozenset[Deed]) -> bool:
    """That somebody waited, or changed a key, may have been an accident."""
    bare = {replace(one, of_key=False) for one in before}
    return after <= before | bare | set(map(_unhindered, before | bare))


def _unhindered(deed: Deed) -> Deed:
    return replace(deed, waited=False, meanwhile=False)


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
    record = _broken(history, violation, part)
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


def _broken(history: History, violation: Violation, part: Part) -> Record | None:
    """The statement that went wrong; None for the final state. If rows show that nobody should have written,
    it is the write whose rows are missing, wherever they are missed."""
    if isinstance(part, WrongRows) and part.sight is Sight.MADE_UP:
        witness = violation.witness
        differences = witness.differences if isinstance(witness, RowsWitness | StateWitness) else ()
        writes = [one.step for one in differences if not one.extra and one.step is not None]
        if writes:
            return history.records[min(writes)]
    return None if violation.step is None else history.records[violation.step]


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
