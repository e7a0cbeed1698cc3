"""Signatures in words."""

from collections.abc import Iterable
from dataclasses import replace

from acidtest.findings.deeds import Deed
from acidtest.findings.parts import (
    Crash,
    Cycle,
    Differs,
    MissingWait,
    NoOrder,
    Part,
    RowReason,
    Untransacted,
    WrongCount,
    WrongError,
    WrongRows,
)
from acidtest.findings.places import Since, StatementClass
from acidtest.findings.signature import Signature
from acidtest.model import ErrorKind
from acidtest.model.trace import Fate


def describe(signature: Signature) -> str:
    """A signature in one line."""
    if signature.explained_by:
        return f"explained by {', '.join(signature.explained_by)}"
    named = f" [{signature.phenomenon.value}]" if signature.phenomenon else ""
    what = f"{signature.kind.value}{named}{_part(signature.part)}"
    if signature.statement in (StatementClass.SERVER, StatementClass.NONE):
        return what
    waited = " that waited" if signature.waited else ""
    return f"{what} at {signature.statement.value}{waited} after {describe_deeds(signature)}"


def describe_deeds(signature: Signature) -> str:
    """What went before it."""
    own = [f"own {deed(replace(one, fate=Fate.COMMITTED))}" for one in sorted(signature.own)]
    return ", ".join([*map(deed, sorted(signature.others)), *own]) or "nothing else"


def deed(one: Deed) -> str:
    """What somebody did, and what had become of it."""
    words = [one.act.value]
    if one.of_key:
        words.append("of a key")
    if one.failed:
        words.append("that failed")
    if one.waited:
        words.append("that had waited")
    if one.meanwhile:
        words.append("while it waited")
    if one.fate is not Fate.COMMITTED and not (one.fate is Fate.OPEN and one.failed):
        words.append({Fate.OPEN: "still open", Fate.ABORTED: "rolled back"}.get(one.fate, "in doubt"))
    return " ".join(words)


def _part(part: Part) -> str:
    match part:
        case WrongRows():
            return _rows(part)
        case WrongCount():
            return ": too many" if part.too_many else ": too few"
        case WrongError():
            return f": {_error(part.observed)} instead of {' or '.join(sorted(part.expected)) or 'success'}"
        case MissingWait():
            return f" for {part.hold.value}{' (resumed too early)' if part.early else ''}"
        case Cycle():
            return f": {' '.join(one.value for one in part.kinds)}"
        case NoOrder():
            return ""
        case Differs():
            sides = " and ".join(side for side in _sides(part)) or "neither by itself"
            return f" in {part.kind.value}, wrong is {sides}"
        case Untransacted():
            classed = {True: "", False: ", not transactional", None: ", in doubt"}[part.transactional]
            return f": {part.difference.value}{classed}"
        case Crash():
            if part.signal:
                return f": the process that it runs in died of {part.signal}"
            return ": the server died" if part.died else f": error {_error(part.error)}"


def _sides(part: Differs) -> list[str]:
    return [name for name, wrong in (("this run", part.here), ("the other run", part.there)) if wrong]


def _error(kind: ErrorKind | None) -> str:
    return "success" if kind is None else kind.value


def _rows(part: WrongRows) -> str:
    too_many = _reasons(one for one in part.reasons if one.extra)
    too_few = _reasons(one for one in part.reasons if not one.extra)
    words = [f"too many ({too_many})" if too_many else "", f"too few ({too_few})" if too_few else ""]
    what = " and ".join(filter(None, words)) or "in another order"
    remarks = [
        "torn" if part.torn else "",
        "stored" if part.stored else "",
        part.moment.value if part.moment else "",
    ]
    return f": {', '.join([what, *filter(None, remarks)])}"


def _reasons(reasons: Iterable[RowReason]) -> str:
    return ", ".join(
        f"{one.reason.value}{'' if one.since is Since.NOBODY else f', changed by {one.since.value}'}"
        for one in sorted(reasons)
    )
