"""What a campaign knows of its violations: what is worth an investigation, and which findings came of it."""

from collections import Counter
from dataclasses import replace

from acidtest.campaign.messages import Decision, Found, Suspected
from acidtest.campaign.store import FINDINGS, Listed, Store, Violation
from acidtest.campaign.suspects import Suspects
from acidtest.campaign.view import FoundLine
from acidtest.findings.finding import Finding
from acidtest.findings.folder import read_finding, write_finding
from acidtest.model import ViolationKind
from acidtest.signatures import SERVER, Signature

FINDING, DUPLICATE, UNREDUCED = "finding", "duplicate", "unreduced"


class Casebook:
    """Kept in the store as well, so that a campaign which goes on knows what it knew."""

    def __init__(self, store: Store) -> None:
        self.lines: list[FoundLine] = []
        """The findings."""
        self.became: Counter[str] = Counter()
        """What violations came to."""
        self.crashes = 0
        self._store = store
        self._suspects = Suspects()
        self._violations: set[str] = set()
        store.sweep()
        for number, target, folder in store.findings():
            finding = read_finding(folder)
            self._suspects.found(target, Signature.from_json(finding.parts))
            self._list(number, finding, str(folder))
        for violation in store.violations():
            self._violations.add(violation.case)
            self.became[violation.became] += 1
            self.crashes += violation.signature.startswith(ViolationKind.CRASH)

    def decide(self, suspect: Suspected, *, stopping: bool, spent: float, seconds: float) -> Decision:
        """What to do about a violation; `spent` is the share of the time that investigations have taken."""
        if suspect.case in self._violations:
            return Decision.PASS_BY
        if stopping:
            return Decision.LEAVE
        if self._suspects.is_worth_it(suspect.target, suspect.signature, spent):
            return Decision.INVESTIGATE
        found = self._suspects.is_found(suspect.target, suspect.signature)
        self._count(suspect, DUPLICATE if found else UNREDUCED, seconds)
        return Decision.PASS_BY

    def investigated(self, message: Found, seconds: float) -> None:
        """Store a finding, unless there is one with its signature."""
        finding = replace(message.finding, seconds=round(seconds, 1))
        target, signature = message.suspect.target, Signature.from_json(finding.parts)
        twin = self._suspects.is_found(target, signature)
        if twin:
            self._count(message.suspect, DUPLICATE, seconds)
        else:
            number = self._store.next_number()
            folder = write_finding(self._store.folder / FINDINGS, number, finding)
            listed = Listed(number, target, finding.digest, finding.seconds, folder.name)
            self._count(message.suspect, FINDING, seconds, listed)
            self._suspects.found(target, signature)
            self._list(number, finding, str(folder))

    def crashed(self, finding: Finding, seconds: float) -> None:
        """Store a finding of a case that ended the process it ran in, unless that is known."""
        suspect = Suspected(finding.target, finding.case, Signature.from_json(finding.parts))
        if suspect.case not in self._violations:
            self.investigated(Found(finding, suspect), seconds)

    def _count(self, suspect: Suspected, became: str, seconds: float, listed: Listed | None = None) -> None:
        self._violations.add(suspect.case)
        self.became[became] += 1
        self.crashes += suspect.signature.statement == SERVER
        violation = Violation(suspect.case, suspect.target, suspect.signature.text, became)
        self._store.violated(violation, seconds, listed)

    def _list(self, number: int, finding: Finding, folder: str) -> None:
        self.lines.append(
            FoundLine(
                number=number,
                digest=finding.digest,
                target=finding.target,
                level=finding.level,
                summary=finding.summary,
                known=", ".join(finding.known) or finding.behaviour,
                flaky=f"{finding.shown} of {finding.runs}" if finding.is_flaky else "",
                seconds=finding.seconds,
                folder=folder,
            )
        )
