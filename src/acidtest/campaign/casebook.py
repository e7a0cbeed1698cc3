"""What a campaign knows of its violations: what is worth an investigation, and which findings came of it."""

from collections import Counter
from dataclasses import replace

from acidtest.campaign.messages import Decision, Found, Sighted, Suspected
from acidtest.campaign.store import FINDINGS, Listed, Sample, Store, Violation
from acidtest.campaign.suspects import MUCH, Suspects
from acidtest.campaign.view import FoundLine
from acidtest.findings.finding import Finding
from acidtest.model import ViolationKind
from acidtest.report.findings import status_of
from acidtest.report.folder import read_finding, write_finding
from acidtest.report.signatures import describe

FINDING, DUPLICATE, UNREDUCED = "finding", "duplicate", "unreduced"
SIGHTING, UNCONFIRMED = "sighting", "unconfirmed"
"""A duplicate at a level or on a target where the finding was not seen before, run again, with or without the
same result."""

SAMPLES_MAX = 3


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
        self._digests: dict[int, str] = {}
        self._violations: set[str] = set()
        self._sighted: set[tuple[str, str, str]] = set()
        """Digests of findings with the targets and levels at which they were seen."""
        self._samples: Counter[tuple[int, str]] = Counter()
        self._unseen: dict[int, int] = {}
        """Findings that did not show again, by number, with how many more violations were theirs since."""
        store.sweep()
        for number, _target, folder in store.findings():
            finding = read_finding(folder)
            self._found(number, finding)
            self._list(number, finding, str(folder))
        for violation in store.violations():
            self._violations.add(violation.case)
            self._sighted.add((violation.digest, violation.target, violation.level))
            self.became[violation.became] += 1
            self.crashes += violation.signature.startswith(ViolationKind.CRASH)
        for sample in store.samples():
            self._samples[sample.number, sample.digest] += 1

    def decide(self, suspect: Suspected, *, stopping: bool, spent: float, seconds: float) -> Decision:
        """What to do about a violation; `spent` is the share of the time that investigations have taken."""
        if suspect.case in self._violations:
            return Decision.PASS_BY
        if stopping:
            return Decision.LEAVE
        number = self._suspects.finding_of(suspect.signature)
        if number is not None:
            if self._deserves_a_better_case(number, spent):
                return Decision.INVESTIGATE
            if (self._digests[number], suspect.target, suspect.level) not in self._sighted:
                return Decision.CONFIRM
            self._count(suspect, DUPLICATE, seconds, number)
            return Decision.PASS_BY
        if self._suspects.is_worth_it((suspect.target, suspect.level), suspect.signature, spent):
            return Decision.INVESTIGATE
        self._count(suspect, UNREDUCED, seconds, self._suspects.likely_finding_of(suspect.signature))
        return Decision.PASS_BY

    def _deserves_a_better_case(self, number: int, spent: float) -> bool:
        """A finding whose case did not show again is looked at once more with the 1st, 2nd, 4th .. violation
        of its signature: one of them will have a case that repeats."""
        if number not in self._unseen or spent > MUCH:
            return False
        self._unseen[number] += 1
        return self._unseen[number].bit_count() == 1

    def sighted(self, message: Sighted, seconds: float) -> None:
        """A violation where its finding was not seen before has been run again."""
        number = self._suspects.finding_of(message.suspect.signature)
        self._count(message.suspect, SIGHTING if message.again else UNCONFIRMED, seconds, number)

    def investigated(self, message: Found, seconds: float) -> None:
        """Store a finding, unless there is one with its signature: then it is one more sighting of that."""
        finding = replace(message.finding, seconds=round(seconds, 1))
        assert finding.identity is not None
        twin = self._suspects.finding_of(finding.identity)
        if twin is not None:
            if twin in self._unseen and finding.shown:
                self._replace(twin, finding)
            known = (self._digests[twin], message.suspect.target, message.suspect.level) in self._sighted
            self._count(message.suspect, DUPLICATE if known else SIGHTING, seconds, twin)
            return
        number = self._store.next_number()
        folder = write_finding(self._store.folder / FINDINGS, number, finding)
        listed = Listed(number, message.suspect.target, finding.digest, finding.seconds, folder.name)
        self._found(number, finding)
        self._count(message.suspect, FINDING, seconds, number, listed)
        self._list(number, finding, str(folder))

    def _replace(self, number: int, finding: Finding) -> None:
        """The finding has a better case now; it keeps its number and the time at which it was found."""
        position = next(i for i, line in enumerate(self.lines) if line.number == number)
        finding = replace(finding, seconds=self.lines[position].seconds)
        folder = write_finding(self._store.folder / FINDINGS, number, finding)
        del self._unseen[number]
        self._list(number, finding, str(folder))
        self.lines[position] = self.lines.pop()

    def crashed(self, finding: Finding, seconds: float) -> None:
        """Store a finding of a case that ended the process it ran in, unless that is known."""
        assert finding.identity is not None
        suspect = Suspected(finding.target, finding.level, finding.case, finding.identity, finding.original)
        if suspect.case not in self._violations:
            self.investigated(Found(finding, suspect), seconds)

    @property
    def duplicates(self) -> int:
        """Violations whose finding was already there."""
        return sum(self.became[one] for one in (DUPLICATE, SIGHTING, UNCONFIRMED))

    def _found(self, number: int, finding: Finding) -> None:
        self._digests[number] = finding.digest
        if finding.identity is not None:  # one of an older version is found again
            self._suspects.found(number, finding.identity)
        if finding.runs and not finding.shown and finding.kind != ViolationKind.CRASH:
            self._unseen[number] = 0

    def _count(
        self,
        suspect: Suspected,
        became: str,
        seconds: float,
        number: int | None = None,
        listed: Listed | None = None,
    ) -> None:
        digest = "" if number is None else self._digests[number]
        self._violations.add(suspect.case)
        if became != UNREDUCED:
            self._sighted.add((digest, suspect.target, suspect.level))
        self.became[became] += 1
        self.crashes += suspect.signature.kind is ViolationKind.CRASH
        violation = Violation(
            suspect.case,
            suspect.target,
            describe(suspect.signature),
            became,
            suspect.level,
            digest if became != UNREDUCED else "",
        )
        self._store.violated(violation, seconds, listed, self._sample(suspect, number))

    def _sample(self, suspect: Suspected, number: int | None) -> Sample | None:
        """Of every class of duplicates the first few cases are kept."""
        if number is None or self._samples[number, suspect.signature.digest] >= SAMPLES_MAX:
            return None
        self._samples[number, suspect.signature.digest] += 1
        signature = suspect.signature
        return Sample(number, signature.digest, describe(signature), suspect.case, suspect.text)

    def _list(self, number: int, finding: Finding, folder: str) -> None:
        self.lines.append(
            FoundLine(
                number=number,
                digest=finding.digest,
                target=finding.target,
                level=finding.level,
                summary=finding.summary,
                known=", ".join(one.id for one in finding.explained_by),
                status=status_of(finding),
                flaky=f"{finding.shown} of {finding.runs}" if finding.is_flaky else "",
                seconds=finding.seconds,
                folder=folder,
            )
        )
