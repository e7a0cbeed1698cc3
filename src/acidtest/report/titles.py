"""What a finding is called in the first line of a report: what goes wrong, in plain words."""

from acidtest.casefile import parse_case
from acidtest.findings.finding import Finding
from acidtest.findings.parts import WrongError, WrongRows
from acidtest.findings.signature import Signature
from acidtest.model import Level, Reason, ViolationKind
from acidtest.sql.shape import Locking, Verb, shape_of

_BY_REASON = {
    Reason.UNCOMMITTED: "{statement} shows what is not committed",
    Reason.ROLLED_BACK: "{statement} shows what was rolled back",
    Reason.OWN: "a transaction does not see its own {own}",
    Reason.DELETED: "{statement} shows a row that was deleted",
    Reason.LATER: "{statement} shows what was committed after its snapshot",
    Reason.REPEATED: "{statement} shows a row more often than it is there",
    Reason.NEVER_WRITTEN: "{statement} shows a row that nobody wrote",
}
"""By the most telling reason of wrong rows."""

_BY_KIND = {
    ViolationKind.MISSING_BLOCK: "{statement} does not wait for a lock that another transaction holds",
    ViolationKind.WRONG_ROWS: "{statement} returns wrong rows",
    ViolationKind.WRONG_AFFECTED_COUNT: "{statement} reports a wrong affected count",
    ViolationKind.WRONG_ERROR: "{statement} {error}",
    ViolationKind.WRONG_FINAL_STATE: "tables end with wrong rows",
    ViolationKind.FORBIDDEN_PHENOMENON: "{phenomenon}",
    ViolationKind.NOT_SERIALIZABLE: "committed transactions fit no serial order",
    ViolationKind.DIFFERENT_RUN: "{statement} does something else than on another server",
    ViolationKind.UNTRANSACTED: "{statement} does something else than without transactions",
    ViolationKind.CRASH: "the server fails",
}


def title(finding: Finding) -> str:
    """One line: the level, and what goes wrong."""
    return f"{Level.of_short(finding.level) or 'mixed levels'}: {words_of(finding)}"


def words_of(finding: Finding) -> str:
    """What goes wrong."""
    signature = finding.identity
    if signature is None:
        return finding.summary
    own = {one.act.value.upper() for one in signature.own}
    return _form(signature).format(
        statement=_statement(finding, signature),
        own=own.pop() if len(own) == 1 else "write",
        error=_error(signature),
        phenomenon=signature.phenomenon.text if signature.phenomenon else "a forbidden phenomenon",
    )


def _form(signature: Signature) -> str:
    if isinstance(signature.part, WrongRows) and signature.kind is ViolationKind.WRONG_ROWS:
        telling = signature.part.telling
        if telling is not None and telling.reason in _BY_REASON:
            return _BY_REASON[telling.reason]
    return _BY_KIND[signature.kind]


def _statement(finding: Finding, signature: Signature) -> str:
    """The statement at which it shows: `an UPDATE that waited`."""
    step = judged_step(finding)
    steps = parse_case(finding.minimal, "minimal.sql").steps
    if step is None or not 0 <= step < len(steps):
        return "a statement"
    waited = " that waited" if signature.waited else ""
    return f"{_verb(steps[step].sql, finding.dbms)}{waited}"


def judged_step(finding: Finding) -> int | None:
    """The step at which it shows; None for the final state, or if none was stored."""
    step = naming_verdict(finding).get("statement")
    return step if isinstance(step, int) else None


def naming_verdict(finding: Finding) -> dict[str, object]:
    """The verdict that the finding is about; empty if none was stored."""
    violations = [one for one in finding.verdicts if one.get("verdict") == "violation"]
    return min(violations, key=lambda one: one.get("kind") != finding.kind, default={})


def _verb(sql: str, dbms: str) -> str:
    shape = shape_of(sql, dbms)
    if shape is None:
        return "a statement"
    if shape.verb is not Verb.READ:
        return f"{'an' if shape.verb.value[0] in 'aeiou' else 'a'} {shape.verb.value.upper()}"
    clauses = {
        Locking.NONE: "",
        Locking.SHARE: " that locks for share",
        Locking.UPDATE: " FOR UPDATE",
        Locking.KEY_SHARE: " FOR KEY SHARE",
        Locking.NO_KEY_UPDATE: " FOR NO KEY UPDATE",
    }
    return f"a SELECT{clauses[shape.locking]}"


def _error(signature: Signature) -> str:
    part = signature.part
    if not isinstance(part, WrongError):
        return "ends with a wrong error"
    return (
        "succeeds where it has to fail"
        if part.observed is None
        else f"fails with an error ({part.observed.value})"
    )
