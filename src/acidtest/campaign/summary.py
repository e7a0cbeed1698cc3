"""What a campaign says at its end: JSON for programs (docs/json.md), a few lines for people."""

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import ASCII, SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from acidtest.campaign.statistics import DIFFERENTIAL, Statistics
from acidtest.campaign.view import View
from acidtest.campaign.wording import (
    clock,
    found_counts,
    share,
    split_target,
    top_reasons,
    verdict_counts,
)
from acidtest.casefile import parse_case, printable
from acidtest.codec import encode
from acidtest.findings.baseline import Baseline
from acidtest.findings.finding import Finding
from acidtest.findings.groups import Group, Stored, grouped
from acidtest.report.findings import rate, replay_command, status_of
from acidtest.report.folder import MINIMAL, REPORT

FORMAT = "acidtest-fuzz/1"

_REASONS_MAX = 3

NOTHING_BEFORE = Baseline()


def to_json(
    view: View,
    findings: Sequence[Stored],
    *,
    stopped: str,
    exit_code: int,
    before: Baseline = NOTHING_BEFORE,
) -> dict[str, Any]:
    """The summary as JSON-ready data. `stopped` says why the campaign ended: `cases`, `time`, `interrupted`
    or `target failed`."""
    counted = view.statistics
    return {
        "format": FORMAT,
        "folder": view.folder,
        "seed": view.seed,
        "profile": view.profile,
        "targets": [{"spec": spec, "version": version} for spec, version in map(split_target, view.targets)],
        "levels": list(view.levels),
        "oracles": list(view.oracles),
        "workers": len(view.workers),
        "stopped": stopped,
        "exit_code": exit_code,
        "seconds": round(view.elapsed_s, 3),
        "cases": counted.cases,
        "cases_per_minute": round(view.cases_per_minute, 1),
        "judged": counted.judged,
        "undecided": dict(top_reasons(counted.undecided, len(counted.undecided))),
        "conflicting": counted.conflicting,
        "blocked": counted.blocked,
        "deadlocks": counted.deadlocks,
        "statements": counted.statements,
        "rejected": counted.rejected,
        "verdicts": verdict_counts(counted, view.oracles),
        "stages": {name: round(seconds, 3) for name, seconds in counted.seconds.items()},
        "violations": counted.violations,
        "new": view.new,
        "known": view.known,
        "duplicates": view.duplicates,
        "unreduced": view.unreduced,
        "crashes": view.crashes,
        "replaced_workers": view.replaced,
        "defects": counted.defects,
        "notes": list(view.notes),
        "disagreements": counted.disagreements,
        "disagreeing": dict(top_reasons(counted.disagreeing, len(counted.disagreeing))),
        "abstained": dict(top_reasons(counted.abstained, len(counted.abstained))),
        "allowed_differences": dict(
            top_reasons(counted.allowed_differences, len(counted.allowed_differences))
        ),
        "unexplained_conflicts": counted.unexplained_conflicts,
        "instrumented": counted.instrumented,
        "probes": counted.probes,
        "torn_probes": counted.torn_probes,
        "causes": len(grouped(findings)),
        "findings": [
            _finding_json(folder, finding) | {"in_baseline": before.has(finding)}
            for folder, finding in findings
        ],
    }


def _finding_json(folder: Path, finding: Finding) -> dict[str, Any]:
    return {
        "signature": finding.signature,
        "digest": finding.digest,
        "kind": finding.kind,
        "status": status_of(finding),
        "explained_by": encode(finding.explained_by),
        "resembles": list(finding.resembles),
        "disagreement": finding.disagreement or None,
        "target": finding.target,
        "version": finding.version,
        "level": finding.level,
        "oracles": list(finding.oracles),
        "seconds": round(finding.seconds, 3),
        "flaky": {"shown": finding.shown, "runs": finding.runs} if finding.is_flaky else None,
        "summary": finding.summary,
        "folder": str(folder),
        "statements": len(parse_case(finding.minimal, str(folder / MINIMAL)).steps),
        "replay": _replay(folder, finding),
    }


def _replay(folder: Path, finding: Finding) -> str:
    return replay_command(finding, str(folder / MINIMAL))


def text(
    view: View,
    findings: Sequence[Stored],
    *,
    stopped: str,
    width: int = 100,
    ascii_only: bool = False,
    before: Baseline = NOTHING_BEFORE,
) -> str:
    """The summary for people: what was done, a table of findings, and how to see the first one again."""
    lines = [*_account(view, stopped), ""]
    if not findings:
        return "\n".join([*lines, "No findings.", ""])
    folder, first = findings[0]
    groups = grouped(findings)
    old = sum(before.has(finding) for _, finding in findings)
    if len(groups) < len(findings):
        lines.append(f"{len(findings)} findings of {len(groups)} causes; the first of each:")
    if old:
        lines.append(f"in the baseline: {old} of {len(findings)}")
    lines += [
        _table(groups, width, ascii_only),
        f"Replay the first one:  {printable(_replay(folder, first))}",
        f"Its report:            {printable(str(folder / REPORT))}",
        "",
    ]
    return "\n".join(lines)


def _account(view: View, stopped: str) -> list[str]:
    counted = view.statistics
    lines = [
        f"{counted.cases:,} cases in {clock(view.elapsed_s)}, {view.cases_per_minute:,.0f} a minute;"
        f" ended by: {stopped}; seed {view.seed}; folder {view.folder}",
        f"judged {share(counted.judged, counted.cases)}; blocked {share(counted.blocked, counted.cases)};"
        f" conflicting {share(counted.conflicting, counted.cases)}; deadlocks {counted.deadlocks:,};"
        f" rejected {share(counted.rejected, counted.statements)} of {counted.statements:,} statements",
    ]
    if undecided := sum(counted.undecided.values()):
        shown = top_reasons(counted.undecided, _REASONS_MAX)
        more = len(counted.undecided) - len(shown)
        reasons = "; ".join(f"{number:,} {reason}" for reason, number in shown)
        lines.append(f"undecided {undecided:,}: {reasons}{f'; and {more:,} reasons more' if more else ''}")
    if view.crashes or view.replaced:
        lines.append(f"servers that died: {view.crashes:,}; workers that died: {view.replaced:,}")
    if counted.instrumented:
        lines.append(
            f"instrumented {share(counted.instrumented, counted.cases)};"
            f" probes torn {share(counted.torn_probes, counted.probes)} of {counted.probes:,}"
        )
    if counted.disagreements:
        lines.append(f"cases about which oracles disagree: {counted.disagreements:,}")
        lines += [f"  {number:,}: {who}" for who, number in top_reasons(counted.disagreeing, _REASONS_MAX)]
    lines += _comparison(counted)
    if counted.unexplained_conflicts:
        lines.append(f"conflict errors without a reason: {counted.unexplained_conflicts:,}")
    if counted.defects:
        lines.append(f"cases with defects of acidtest: {counted.defects:,}; see errors.log in the folder")
    return [printable(line) for line in [*lines, f"findings: {found_counts(view)}"]]


def _comparison(counted: Statistics) -> list[str]:
    """What came of comparing with another target."""
    skipped = Counter(
        {reason: number for reason, number in counted.abstained.items() if reason.startswith(DIFFERENTIAL)}
    )
    lines = []
    if different := sum(counted.allowed_differences.values()):
        lines.append(f"cases that the other target runs in another way, as the promises allow: {different:,}")
        shown = top_reasons(counted.allowed_differences, _REASONS_MAX)
        lines += [f"  {number:,}: {why}" for why, number in shown]
    if skipped:
        lines.append(f"cases that could not be compared: {sum(skipped.values()):,}")
        lines += [
            f"  {number:,}: {why.removeprefix(f'{DIFFERENTIAL}: ')}"
            for why, number in top_reasons(skipped, _REASONS_MAX)
        ]
    return lines


def _table(groups: Sequence[Group], width: int, ascii_only: bool) -> str:
    table = Table(box=ASCII if ascii_only else SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in ("finding", "target", "level", "what", "status", "after"):
        table.add_column(name, justify="right" if name == "after" else "left", overflow="fold")
    for group in groups:
        finding = group.first
        flaky = f" (flaky: {rate(finding)})" if finding.is_flaky else ""
        cells = (_names(group), finding.target, finding.level, finding.summary + flaky)
        named = (status_of(finding), f"{finding.seconds:.0f} s")
        table.add_row(*(Text(printable(cell)) for cell in (*cells, *named)))
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def _names(group: Group) -> str:
    """The folder, and how many variants there are."""
    more = len(group.variants) - 1
    return f"{group.folder.name} and {more} variant{'s' if more > 1 else ''}" if more else group.folder.name
