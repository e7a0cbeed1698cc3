"""What a finding is called in the first line of a report: the anomaly in plain words."""

import re
from collections.abc import Sequence
from typing import Any

from acidtest.casefile import parse_case
from acidtest.findings.finding import Finding
from acidtest.model import Judgement, Level, Reason, ViolationKind
from acidtest.sql.shape import Locking, Verb, shape_of

_BY_REASON = {
    Reason.UNCOMMITTED: "{statement} shows what is not committed",
    Reason.ROLLED_BACK: "{statement} shows what was rolled back",
    Reason.OWN: "a transaction does not see its own {own}",
    Reason.DELETED: "{statement} shows a row that was deleted",
    Reason.LATER: "{statement} shows what was committed after its snapshot",
}
"""By why a row is wrong; the worst come first."""

_BY_KIND = {
    ViolationKind.MISSING_BLOCK: "{statement} does not wait for a lock that another transaction holds",
    ViolationKind.WRONG_ROWS: "{statement} returns wrong rows",
    ViolationKind.WRONG_AFFECTED_COUNT: "{statement} reports a wrong affected count",
    ViolationKind.WRONG_ERROR: "{statement} {error}",
    ViolationKind.WRONG_FINAL_STATE: "tables end with wrong rows",
    ViolationKind.FORBIDDEN_PHENOMENON: "transactions depend on each other in a circle",
    ViolationKind.NOT_SERIALIZABLE: "committed transactions fit no serial order",
    ViolationKind.CRASH: "the server fails",
}


def naming_verdict(finding: Finding) -> dict[str, Any]:
    """The verdict that the finding is about; empty if none was stored."""
    violations = [one for one in finding.verdicts if one.get("verdict") == Judgement.VIOLATION.value]
    return min(violations, key=lambda one: one.get("kind") != finding.kind, default={})


def title(finding: Finding) -> str:
    """One line: the level, and what goes wrong."""
    return f"{Level.of_short(finding.level) or 'mixed levels'}: {_words(finding)}"


def _words(finding: Finding) -> str:
    verdict = naming_verdict(finding)
    form = _form(finding.kind, [str(one.get("reason")) for one in verdict.get("differences", ())])
    if form is None:
        return finding.summary
    own = set(re.findall(r"\bown (\w+)", " ".join(finding.parts.get("causes", ()))))
    return form.format(
        statement=_statement(finding, verdict.get("statement")),
        own=own.pop().upper() if len(own) == 1 else "write",
        error=_error(str(finding.parts.get("kind"))),
    )


def _form(kind: str, reasons: Sequence[str]) -> str | None:
    in_rows = kind == ViolationKind.WRONG_ROWS
    named = next((form for one, form in _BY_REASON.items() if in_rows and one.name.lower() in reasons), None)
    return named or next((form for one, form in _BY_KIND.items() if one.value == kind), None)


def _statement(finding: Finding, step: object) -> str:
    """The statement at which it shows: `an UPDATE that waited`."""
    steps = parse_case(finding.minimal, "minimal.sql").steps
    if not isinstance(step, int) or not 0 <= step < len(steps):
        return "a statement"
    waited = " that waited" if finding.parts.get("waited") else ""
    return f"{_verb(steps[step].sql, finding.dbms)}{waited}"


def _verb(sql: str, dbms: str) -> str:
    shape = shape_of(sql, dbms)
    if shape is None:
        return "a statement"
    if shape.verb is not Verb.READ:
        return f"{'a' if shape.verb in (Verb.DELETE, Verb.MERGE) else 'an'} {shape.verb.value.upper()}"
    clauses = {
        Locking.NONE: "",
        Locking.SHARE: " that locks for share",
        Locking.UPDATE: " FOR UPDATE",
        Locking.KEY_SHARE: " FOR KEY SHARE",
        Locking.NO_KEY_UPDATE: " FOR NO KEY UPDATE",
    }
    return f"a SELECT{clauses[shape.locking]}"


def _error(kind: str) -> str:
    """What a wrong error is, which signatures tell as `wrong error: KIND`."""
    error = kind.removeprefix(f"{ViolationKind.WRONG_ERROR}: ")
    if error == kind:
        return "ends with a wrong error"
    return "succeeds where it has to fail" if error == "none" else f"fails with an error ({error})"
