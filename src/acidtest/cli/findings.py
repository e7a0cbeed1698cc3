"""`acidtest findings`: list and show what campaigns found, and try it on other targets."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from acidtest.campaign.store import Sightings, recorded
from acidtest.casefile import printable
from acidtest.cli.baseline import baseline_option, load_baseline, stored_in
from acidtest.cli.options import complete_target
from acidtest.cli.paint import paint
from acidtest.cli.progress import working
from acidtest.errors import UsageError
from acidtest.findings import Finding
from acidtest.findings.baseline import baseline_of
from acidtest.findings.baseline import write_baseline as store_baseline
from acidtest.findings.groups import Group, Stored, grouped
from acidtest.investigation.elsewhere import look_elsewhere, other_specs
from acidtest.oracles.registry import BY_THEMSELVES
from acidtest.report.findings import rate, replay_command, status_of
from acidtest.report.folder import DATA, MINIMAL, REPORT, number_of
from acidtest.report.titles import title, words_of
from acidtest.targets.resolve import check_spec, expand_spec

FORMAT = "acidtest-findings/1"
FOLDER_COLUMN_WIDTH_MIN = 150
"""Narrower terminals need the room for what was found."""


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("wanted", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON (docs/findings.md).")
@click.option("--report", "as_report", is_flag=True, help="Print the Markdown reports, ready for a tracker.")
@click.option("--samples", is_flag=True, help="Print cases of the duplicates of the finding with that ID.")
@baseline_option
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Store what was found, for a later --baseline.",
)
@click.option("--ignore-known", is_flag=True, help="Leave out what known behaviour explains.")
@click.option("--elsewhere", is_flag=True, help="First run them on other installed targets, and store it.")
@click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    shell_complete=complete_target,
    help="With --elsewhere: only on this one (may be repeated).  [default: all installed]",
)
def findings(
    directory: Path,
    wanted: str | None,
    as_json: bool,
    as_report: bool,
    samples: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    ignore_known: bool,
    elsewhere: bool,
    targets: tuple[str, ...],
) -> int:
    """List the findings of a campaign by their causes, or show the one with that ID.

    DIR is the directory of a campaign (`acidtest fuzz --out DIR`), a folder of findings, or one finding.
    ID is a finding's number, its digest or the beginning of it, or the name of its folder. The exit code is
    0 also if there are findings; with --baseline it is 1 if there are others than before.

    \b
    acidtest findings DIR                      what was found, a line each
    acidtest findings DIR 1                    the first one: what happened, why it is wrong, how to replay it
    acidtest findings DIR 1 --report | less    the report for the bug tracker
    acidtest findings DIR 1 --samples          other cases that were taken for the same
    acidtest findings DIR --write-baseline known.json
    acidtest findings DIR --elsewhere          on which other installed servers do they show?
    acidtest findings DIR 2 --elsewhere -t 'mariadb@*'
    """
    if as_json and as_report:
        raise UsageError("--json and --report exclude each other")
    if targets and not elsewhere:
        raise UsageError("--target chooses where --elsewhere looks; add --elsewhere")
    before = load_baseline(baseline)
    everything = stored_in(directory)
    if write_baseline is not None:
        store_baseline(write_baseline, baseline_of(finding for _, finding in everything))
    chosen = [
        (folder, one)
        for folder, one in everything
        if not before.has(one) and not (ignore_known and one.is_explained)
    ]
    if wanted is not None:
        chosen = [_choose(everything, wanted, directory)]
    if elsewhere:
        chosen = _look_elsewhere(chosen, targets)
    if samples:
        _print_samples(directory, wanted, chosen)
    elif as_json:
        click.echo(json.dumps({"format": FORMAT, "findings": [_to_json(*one) for one in chosen]}, indent=2))
    elif as_report:
        click.echo("\n---\n\n".join(_report_of(folder) for folder, _ in chosen), nl=False)
    elif not chosen:
        click.echo(f"no findings in {directory}")
    elif wanted is not None or _is_finding(directory):
        _show(*chosen[0])
    else:
        _list(chosen, directory)
    return int(baseline is not None and bool(chosen))


# -- samples


def _print_samples(directory: Path, wanted: str | None, chosen: Sequence[Stored]) -> None:
    """Cases of each class of duplicates of one finding, as the campaign kept them."""
    number = number_of(chosen[0][0]) if wanted is not None else None
    if number is None:
        raise UsageError("--samples needs a campaign and the ID of one finding")
    kept = [one for one in recorded(directory).samples if one.number == number]
    if not kept:
        click.echo(f"no duplicates of finding {number} were kept in {directory}")
    for digest, signature in dict.fromkeys((one.digest, one.signature) for one in kept):
        click.echo(click.style(f"-- {digest}: {printable(signature)}", bold=True))
        for one in kept:
            if one.digest == digest:
                click.echo(paint(one.text))


# -- which


def _is_finding(directory: Path) -> bool:
    return (directory / DATA).exists()


def _choose(stored: Sequence[Stored], wanted: str, directory: Path) -> Stored:
    """By number first: it is what people type."""
    name = wanted.rstrip("/").lower()
    ways: tuple[Callable[[Stored], bool], ...] = (
        lambda one: name.isdecimal() and len(name) < 8 and number_of(one[0]) == int(name),
        lambda one: _name(one[0]) == name,
        lambda one: bool(name) and one[1].digest.startswith(name),
    )
    for matches in ways:
        found = [one for one in stored if matches(one)]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(_name(folder) for folder, _ in found)
            raise UsageError(f"{wanted!r} could be any of {names}; say which")
    known = f"there are {', '.join(_name(folder) for folder, _ in stored)}" if stored else "there are none"
    raise UsageError(f"{directory} has no finding {wanted!r}; {known}")


def _name(folder: Path) -> str:
    return folder.resolve().name


def _id(folder: Path) -> str:
    """What a user may write for it."""
    number = number_of(folder)
    return _name(folder) if number is None else str(number)


def _number(folder: Path) -> str:
    number = number_of(folder)
    return "-" if number is None else str(number)


# -- elsewhere


def _look_elsewhere(stored: Sequence[Stored], targets: Sequence[str]) -> list[Stored]:
    """The findings with what became of them elsewhere. Every answer is stored as it comes."""
    specs = list(dict.fromkeys(one for spec in targets for one in expand_spec(spec))) or other_specs()
    for spec in specs:
        check_spec(spec)
    with working() as progress:
        return look_elsewhere(stored, specs, BY_THEMSELVES, progress)


# -- output


def _to_json(folder: Path, finding: Finding) -> dict[str, Any]:
    own = {"number": number_of(folder), "folder": str(folder), "replay": _replay(folder, finding)}
    return own | {"title": title(finding), **finding.to_json()}


def _report_of(folder: Path) -> str:
    try:
        return (folder / REPORT).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"{folder / REPORT} cannot be read: {reason}") from problem


def _list(stored: Sequence[Stored], directory: Path) -> None:
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    wide = console.width >= FOLDER_COLUMN_WIDTH_MIN
    groups, seen = grouped(stored), recorded(directory).sightings
    table = Table("#", "digest", "what", "status", "variants", "seen at", "shows", "found after")
    table.columns[0].justify = table.columns[-1].justify = "right"
    if wide:
        table.add_column("folder", no_wrap=True)
    for column in table.columns:
        column.overflow = "fold"  # nothing is cut off
    for group in groups:
        cells = [*_cells(group, seen), *([Text(_name(group.folder))] if wide else [])]
        table.add_row(*cells)
    console.print(table)
    click.echo(f"{len(groups)} cause{'s' if len(groups) > 1 else ''}, {len(stored)} with all variants")
    click.echo(f"{stored[0][0].parent} has a folder for each, with case, run, report and data. To see one:")
    click.echo(f"  {shlex.join(['acidtest', 'findings', str(directory), _id(stored[0][0])])}")


def _cells(group: Group, seen: Sightings) -> list[Text]:
    finding = group.first
    return [
        Text(_number(group.folder)),
        Text(finding.digest),
        Text(printable(words_of(finding))),
        Text(printable(status_of(finding)), "" if finding.is_explained else "bold red"),
        Text(", ".join(_number(folder) for folder, _ in group.others) or "-"),
        Text(printable(_seen_at(group, seen))),
        Text(f"{finding.shown}/{finding.runs}", "yellow" if finding.is_flaky else ""),
        Text(_duration(finding.seconds)),
    ]


def _seen_at(group: Group, seen: Sightings) -> str:
    """Targets and levels with the number of violations there, as far as a campaign has counted them."""
    counts: Counter[tuple[str, str]] = Counter()
    for _, finding in group.variants:
        counts.update(seen.get(finding.digest) or {(finding.target, finding.level): 1})
    levels: dict[str, list[str]] = {}
    for (target, level), number in sorted(counts.items()):
        levels.setdefault(target, []).append(f"{level} ({number})" if number > 1 else level)
    return "; ".join(f"{target} {', '.join(names)}" for target, names in levels.items())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _show(folder: Path, finding: Finding) -> None:
    click.echo(click.style(f"{_number(folder)}. {printable(title(finding))}", bold=True))
    flaky = " (flaky)" if finding.is_flaky else ""
    click.echo(printable(f"{finding.target} {finding.version}, {status_of(finding)}"))
    click.echo(f"shows in {rate(finding)}{flaky}; signature {finding.digest}: {printable(finding.signature)}")
    click.echo()
    click.echo(paint(finding.observed))
    for paragraph in finding.explanation:
        click.echo(printable(paragraph))
    for heading, sightings in (("levels", finding.levels), ("elsewhere", finding.elsewhere)):
        click.echo(f"\n{heading}:" if sightings else f"\n{heading}: not tried")
        for one in sightings:
            detail = f" ({one.detail})" if one.detail else ""
            click.echo(printable(f"  {f'{one.target} {one.level}':<28} {one.found}{detail}"))
    click.echo(f"\nreport: {folder / REPORT}")
    click.echo(f"replay: {_replay(folder, finding)}")


def _replay(folder: Path, finding: Finding) -> str:
    return replay_command(finding, str(folder / MINIMAL))
