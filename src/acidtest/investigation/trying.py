"""What becomes of a finding's case in another place: at another level, or on another target."""

from acidtest.corpus.levels import BESIDE_THE_POINT, PREVENTING
from acidtest.examine import Examined, Examiner
from acidtest.findings.signature import signature_of
from acidtest.model import Case, Failed, History, Judgement
from acidtest.report.signatures import describe

_BY_STRENGTH = ("shows", "another violation", "undecided", "does not show", "not run")
SHOWS, ANOTHER, UNDECIDED, HIDDEN, NOT_RUN = _BY_STRENGTH

Seen = tuple[str, str]
"""What was found, and why where that is worth a word."""


def try_out(examiner: Examiner, case: Case, digest: str, tries: int) -> Seen:
    """The strongest answer of some tries; one that is flaky at home needs several.

    Raises `UsageError` if the level is missing here or the tables are refused.
    """
    best: Seen | None = None
    for _ in range(tries):
        examined = examiner.examine(case, fresh=True)
        seen = _seen_in(examined, digest)
        if best is None or _BY_STRENGTH.index(seen[0]) < _BY_STRENGTH.index(best[0]):
            best = seen
        if seen[0] == SHOWS:
            break
    return best or (NOT_RUN, "")


def _seen_in(examined: Examined, digest: str) -> Seen:
    """How a run compares with a finding, which any of the oracles may have made."""
    signatures = [signature_of(examined.history, one) for one in examined.verdicts if one.is_violation]
    if any(one.digest == digest for one in signatures):
        return SHOWS, ""
    if signatures:
        return ANOTHER, describe(signatures[0])
    if examined.judgement is Judgement.PASS:
        return _hidden_because(examined.history)
    return UNDECIDED, examined.undecided_because or "no oracle has a say"


def _hidden_because(history: History) -> Seen:
    """Why it does not show, where an error tells. What a DBMS does not understand says nothing about it."""
    errors = [(one.sql, one.outcome) for one in history.records if isinstance(one.outcome, Failed)]
    for sql, error in errors:
        if error.kind in BESIDE_THE_POINT:
            return NOT_RUN, f"it refuses {sql!r}: {error.message} ({error.code})"
    return HIDDEN, next((f"error {error.code}" for _, error in errors if error.kind in PREVENTING), "")
