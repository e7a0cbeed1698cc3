"""On which other targets a finding shows: its minimal case is run there, judged, and compared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from acidtest.casefile import parse_case
from acidtest.corpus.levels import PREVENTING
from acidtest.corpus.matrix import BESIDE_THE_POINT
from acidtest.errors import AcidtestError
from acidtest.execute import Executor
from acidtest.findings.finding import Finding, Sighting
from acidtest.findings.folder import rewrite
from acidtest.findings.investigate import seen_as
from acidtest.model import Case, Failed, History, Level
from acidtest.oracles.registry import Oracle, judge_all, make_oracles
from acidtest.targets import Target
from acidtest.targets.resolve import available_specs, open_target

SHOWS, HIDDEN, NOT_RUN = "shows", "does not show", "not run"

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
        progress(f"starting {_label(spec)}")
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
    executor = stack.enter_context(Executor(target))
    judges = [stack.enter_context(closing(judge)) for judge in make_oracles(oracles, target)]
    return _Visit(spec, target, executor, judges)


class _Visit:
    """An open target with its executor and oracles."""

    def __init__(self, spec: str, target: Target, executor: Executor, judges: list[Oracle]) -> None:
        self.target = target
        self._spec = spec
        self._executor = executor
        self._judges = judges

    def is_home_of(self, finding: Finding) -> bool:
        """Whether the finding is from such a server: `mariadb@10.11` may be called mariadb@10.11.19 here."""
        same_server = (finding.dbms, finding.version) == (self.target.dbms, self.target.version)
        return same_server and _options(finding.target) == _options(self._spec)

    def try_out(self, finding: Finding) -> Sighting:
        """What becomes of the finding here. One that is flaky at home gets as many tries as there."""
        seen = NOT_RUN, ""
        try:
            case = _at_its_level(finding)
            for _ in range(finding.runs if finding.is_flaky else 1):
                seen = self._look(case, finding.digest)
                if seen[0] == SHOWS:
                    break
        except AcidtestError as error:  # no such level, tables refused, or the server is gone
            seen = NOT_RUN, str(error)
        return Sighting(self.target.label, self.target.version, finding.level, *seen)

    def _look(self, case: Case, digest: str) -> tuple[str, str]:
        history = self._executor.run(case, fresh=True)
        verdicts = judge_all(self._judges, history)
        if not verdicts:
            return "undecided", "no oracle has a say"
        found, detail = seen_as(history, verdicts, digest)
        return _hidden_because(history) if found == HIDDEN else (found, detail)


def _hidden_because(history: History) -> tuple[str, str]:
    """Why it does not show, where an error tells. What a DBMS does not understand says nothing about it."""
    errors = [(one.sql, one.outcome) for one in history.records if isinstance(one.outcome, Failed)]
    for sql, error in errors:
        if error.kind in BESIDE_THE_POINT:
            return NOT_RUN, f"it refuses {sql!r}: {error.message} ({error.code})"
    return HIDDEN, next((f"error {error.code}" for _, error in errors if error.kind in PREVENTING), "")


def _at_its_level(finding: Finding) -> Case:
    case = parse_case(finding.minimal, "minimal.sql")
    return case.at_level(next((level for level in Level if level.short == finding.level), None))


def _unopened(spec: str, finding: Finding, error: AcidtestError) -> Sighting:
    return Sighting(_label(spec), "", finding.level, NOT_RUN, str(error))


def _label(spec: str) -> str:
    """The specification without a password."""
    if "://" not in spec:
        return spec
    address = urlsplit(spec)
    who, at, where = address.netloc.rpartition("@")
    return f"{address.scheme}://{who.partition(':')[0]}{at}{where}{address.path}"


def _options(spec: str) -> str:
    return "" if "://" in spec else spec.partition("?")[2]
