"""What findings are grouped by: the rule that was broken, without the accidents of a case.

One broken rule shows in many ways. A write that works on wrong rows reports a wrong count, misses a
duplicate key, or leaves rows behind that nobody should have written: which of these depends on values. So a
cause has the rule and what the statement had to take into account. Verbs, counts and the side of a row on
which it shows are left to the signature.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from acidtest.findings.deeds import Act, Deed
from acidtest.findings.parts import MissingWait, Part, Sight, WrongCount, WrongError, WrongRows
from acidtest.findings.places import StatementClass
from acidtest.model import ErrorKind, Hold, Phenomenon, ViolationKind
from acidtest.model.trace import Fate

_WRITES = (StatementClass.INSERT, StatementClass.UPDATE_OR_DELETE)

_OF_THE_ROWS = frozenset(
    {
        ErrorKind.DUPLICATE_KEY,
        ErrorKind.FOREIGN_KEY,
        ErrorKind.CHECK,
        ErrorKind.NOT_NULL,
        ErrorKind.CONSTRAINT,
    }
)
"""Errors that come, or do not come, because of the rows that a write works on."""


class Basis(StrEnum):
    """What a statement that went wrong had to take into account."""

    SAVEPOINT = "that a transaction went back to a savepoint"
    COMMITTED = "what others committed"
    OWN = "what its own transaction did"
    ABORTED = "what was rolled back"
    OPEN = "what others have not committed"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Cause:
    """What is taken for one cause: a deviation, or one broken rule.

    A read that shows what is wrongly stored is the same as a wrong final state.
    """

    explained_by: tuple[str, ...] = ()
    kind: ViolationKind | None = None
    phenomenon: Phenomenon | None = None
    sight: Sight | None = None
    part: Part | None = None
    statement: StatementClass = StatementClass.NONE
    waited: bool = False
    basis: Basis | None = None


def cause_of(
    kind: ViolationKind,
    part: Part,
    statement: StatementClass,
    waited: bool,
    phenomenon: Phenomenon | None,
    own: frozenset[Deed],
    others: frozenset[Deed],
) -> Cause:
    """The cause of a violation that no deviation explains."""
    basis = basis_of(own, others)
    match part:
        case WrongRows(sight=Sight.MADE_UP) | WrongCount() if statement in _WRITES:
            return Cause(sight=Sight.WRITE, statement=statement, waited=waited, basis=basis)
        case WrongError() if statement in _WRITES and part.errors <= _OF_THE_ROWS:
            return Cause(sight=Sight.WRITE, statement=statement, waited=waited, basis=basis)
        case WrongRows():
            sight = Sight.ABORTED if part.sight is Sight.MISSING and basis is Basis.ABORTED else part.sight
            after = basis if basis is Basis.SAVEPOINT else None
            if part.stored or statement is StatementClass.FINAL_STATE:
                return Cause((), ViolationKind.WRONG_FINAL_STATE, None, sight, basis=after)
            return Cause((), kind, None, sight, None, statement, waited, after)
        case MissingWait():
            asked = any(one.act in (Act.LOCKING_READ, Act.SHARE_READ) for one in others)
            if part.hold is Hold.CONDITION and asked:  # it locks rows and gaps, or neither
                part = replace(part, hold=Hold.LOCKED_ROW)
            return Cause(kind=kind, part=part, basis=basis if basis is Basis.SAVEPOINT else None)
        case _:
            return Cause((), kind, phenomenon, None, part, statement, waited)


def basis_of(own: frozenset[Deed], others: frozenset[Deed]) -> Basis:
    """What the deeds that went before come to."""
    fates = {one.fate for one in others}
    if any(one.act is Act.ROLLBACK_TO for one in own | others):
        return Basis.SAVEPOINT
    if Fate.COMMITTED in fates:
        return Basis.COMMITTED
    if own:
        return Basis.OWN
    if Fate.ABORTED in fates:
        return Basis.ABORTED
    return Basis.OPEN if fates else Basis.NOTHING
