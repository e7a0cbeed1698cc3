"""On which other targets a finding shows: its minimal case is run there, judged, and compared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from acidtest.casefile import parse_case
from acidtest.errors import AcidtestError
from acidtest.examine import Examiner
from acidtest.findings.finding import Finding, Sighting
from acidtest.investigation.trying import NOT_RUN, try_out
from acidtest.model import Case, Level
from acidtest.report.folder import rewrite
from acidtest.targets.resolve import available_specs, open_target, without_password

Progress = Callable[[str], None]
Stored = tuple[Path, Finding]
"""A finding and its folder."""


def other_specs() -> list[str]:
    """What is installed here and can be asked; simulated engines say nothing about a DBMS."""
    return [spec for spec in available_specs() if spec.partition("@")[0] != "simulated"]


def look_elsewhere(
    stored: Sequence[Stored], specs: Sequence[str], oracles: Sequence[str], progress: Progress
) -> list[Stored]:
    """The stored findings with what became of them on these targets. Every answer is stored as it comes."""
    now = list(stored)
    for place, sighting in everywhere([one for _, one in stored], specs, oracles, progress):
        folder, finding = now[place]
        now[place] = folder, replace(finding, elsewhere=_merged(finding.elsewhere, sighting))
        rewrite(*now[place])
    return now


def _merged(before: Sequence[Sighting], new: Sighting) -> tuple[Sighting, ...]:
    """The latest word on a server counts, whatever it was called before (mariadb@11.8, mariadb@11.8.6)."""
    return (*(one for one in before if one.target != new.target and _server(one) != _server(new)), new)


def _server(one: Sighting) -> tuple[str, ...]:
    if "://" in one.target:
        return (one.target,)
    name, _, options = one.target.partition("?")
    return name.partition("@")[0], options, one.version or one.target


def everywhere(
    findings: Sequence[Finding], specs: Sequence[str], oracles: Sequence[str], progress: Progress
) -> Iterator[tuple[int, Sighting]]:
    """What becomes of findings (by their positions) on other targets; each target is opened once.

    A target that cannot be opened, or fails on the way, gives `not run` and the next one follows.
    """
    for spec in specs:
        places = [place for place, finding in enumerate(findings) if finding.target != spec]
        if not places:
            continue
        progress(f"starting {without_password(spec)}")
        with ExitStack() as stack:
            try:
                visit = _visit(spec, oracles, stack)
            except AcidtestError as error:
                yield from ((place, _unopened(spec, findings[place], error)) for place in places)
                continue
            for place in places:
                if not visit.is_home_of(findings[place]):
                    progress(f"{findings[place].digest} on {visit.target.label}")
                    yield place, visit.try_out(findings[place])


def _visit(spec: str, oracles: Sequence[str], stack: ExitStack) -> "_Visit":
    """Open a target; the stack closes what was opened, also if something fails on the way."""
    target = stack.enter_context(open_target(spec))
    return _Visit(spec, stack.enter_context(Examiner(target, oracles)))


class _Visit:
    """An open target with its examiner."""

    def __init__(self, spec: str, examiner: Examiner) -> None:
        self.target = examiner.target
        self._spec = spec
        self._examiner = examiner

    def is_home_of(self, finding: Finding) -> bool:
        """Whether the finding is from such a server: `mariadb@10.11` may be called mariadb@10.11.19 here."""
        same_server = (finding.dbms, finding.version) == (self.target.dbms, self.target.version)
        return same_server and _options(finding.target) == _options(self._spec)

    def try_out(self, finding: Finding) -> Sighting:
        """What becomes of the finding here. One that is flaky at home gets as many tries as there."""
        tries = finding.runs if finding.is_flaky else 1
        try:
            seen = try_out(self._examiner, _at_its_level(finding), finding.digest, tries)
        except AcidtestError as error:  # no such level, tables refused, or the server is gone
            seen = NOT_RUN, str(error)
        return Sighting(self.target.label, self.target.version, finding.level, *seen)


def _at_its_level(finding: Finding) -> Case:
    case = parse_case(finding.minimal, "minimal.sql")
    return case.at_level(Level.of_short(finding.level))


def _unopened(spec: str, finding: Finding, error: AcidtestError) -> Sighting:
    return Sighting(without_password(spec), "", finding.level, NOT_RUN, str(error))


def _options(spec: str) -> str:
    return "" if "://" in spec else spec.partition("?")[2]
