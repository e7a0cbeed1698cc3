"""What becomes of a finding's case in another place: at another level, or on another target."""

from collections.abc import Sequence

from acidtest.corpus.levels import PREVENTING
from acidtest.corpus.matrix import BESIDE_THE_POINT
from acidtest.execute import Executor
from acidtest.model import Case, Failed, History, Judgement, Verdict
from acidtest.oracles.registry import Oracle, judge_all
from acidtest.signatures import signature_of

_BY_STRENGTH = ("shows", "another violation", "undecided", "does not show", "not run")
SHOWS, ANOTHER, UNDECIDED, HIDDEN, NOT_RUN = _BY_STRENGTH

Seen = tuple[str, str]
"""What was found, and why where that is worth a word."""


def try_out(executor: Executor, judges: list[Oracle], case: Case, digest: str, tries: int) -> Seen:
    """The strongest answer of some tries; one that is flaky at home needs several.

    Raises `UsageError` if the level is missing here or the tables are refused.
    """
    best: Seen | None = None
    for _ in range(tries):
        history = executor.run(case, fresh=True)
        seen = _seen_in(history, judge_all(judges, history), digest)
        if best is None or _BY_STRENGTH.index(seen[0]) < _BY_STRENGTH.index(best[0]):
            best = seen
        if seen[0] == SHOWS:
            break
    return best or (NOT_RUN, "")


def _seen_in(history: History, verdicts: Sequence[Verdict], digest: str) -> Seen:
    """How a run compares with a finding, which any of the oracles may have made."""
    violations = [one for one in verdicts if one.judgement is Judgement.VIOLATION]
    signatures = [signature_of(history, one) for one in violations]
    if any(one.digest == digest for one in signatures):
        return SHOWS, ""
    if signatures:
        return ANOTHER, signatures[0].text
    says = [one for one in verdicts if one.oracle != "crash"]
    if any(one.judgement is Judgement.PASS for one in says):
        return _hidden_because(history)
    return UNDECIDED, next((one.explanation for one in says), "no oracle has a say")


def _hidden_because(history: History) -> Seen:
    """Why it does not show, where an error tells. What a DBMS does not understand says nothing about it."""
    errors = [(one.sql, one.outcome) for one in history.records if isinstance(one.outcome, Failed)]
    for sql, error in errors:
        if error.kind in BESIDE_THE_POINT:
            return NOT_RUN, f"it refuses {sql!r}: {error.message} ({error.code})"
    return HIDDEN, next((f"error {error.code}" for _, error in errors if error.kind in PREVENTING), "")
