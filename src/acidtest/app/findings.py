"""Races of an application stored as findings, in the folders that `acidtest findings` reads."""

import hashlib
from pathlib import Path

from acidtest import __version__
from acidtest.app.shapes import without_values
from acidtest.errors import UsageError
from acidtest.findings.finding import Finding, Sighting
from acidtest.model import ViolationKind
from acidtest.model.application import Exploration, Race
from acidtest.report.application import race_lines, race_summary
from acidtest.report.folder import number_of, read_findings, rewrite, write_finding


def store(exploration: Exploration, parent: Path) -> Path:
    """Write the race that was found; one with the same signature is replaced. The folder it stands in."""
    if exploration.race is None:
        raise UsageError("nothing went wrong, so there is nothing to store")
    finding = finding_of(exploration, exploration.race)
    known = read_findings(parent) if parent.exists() else []
    for folder, other in known:
        if other.digest == finding.digest:
            rewrite(folder, finding)
            return folder
    number = max((number_of(folder) or 0 for folder, _ in known), default=0) + 1
    return write_finding(parent, number, finding)


def finding_of(exploration: Exploration, race: Race) -> Finding:
    """A race as a finding."""
    signature = signature_of(race)
    level = exploration.level.short if exploration.level else "mixed"
    return Finding(
        signature=signature,
        digest=hashlib.sha256(signature.encode()).hexdigest()[:8],
        kind=ViolationKind.NOT_SERIALIZABLE,
        target=exploration.target,
        dbms=exploration.dbms,
        version=exploration.version,
        settings={},
        level=level,
        oracles=("serial",),
        summary=race_summary(exploration),
        minimal=race.case,
        observed=race.case,
        original=race.case,
        verdicts=(),
        explanation=("\n".join(race_lines(race)),),
        shown=1,
        runs=1,
        reduction=race.case_problem or "statements that do not matter were left out",
        levels=tuple(
            Sighting(
                exploration.target,
                exploration.version,
                one.level.short,
                "shows" if one.violated else "does not show",
                one.detail,
            )
            for one in race.levels
        ),
        case=race.replay,
        seconds=exploration.coverage.seconds,
        acidtest=__version__,
    )


def signature_of(race: Race) -> str:
    """What makes two races the same: the phenomenon, its nature, and the statements that write, by place."""
    places = sorted(
        {
            f"{call.source.file} {call.source.function}" if call.source else without_values(call.sql)
            for call in race.run.calls
        }
    )
    name = race.phenomenon.value if race.phenomenon else "not serializable"
    reasons = ", ".join(sorted(race.reasons))
    return f"application, {name}, {race.nature.value}, {reasons}: {'; '.join(places)}"
