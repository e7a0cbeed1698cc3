"""`acidtest findings`: list and show what campaigns found, and try it on other targets."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from acidtest.casefile import printable
from acidtest.cli.options import complete_target
from acidtest.cli.paint import paint
from acidtest.cli.progress import working
from acidtest.errors import UsageError
from acidtest.findings import Finding
from acidtest.findings.elsewhere import look_elsewhere, other_specs
from acidtest.findings.folder import DATA, MINIMAL, REPORT, number_of, read_finding, read_findings
from acidtest.findings.markdown import known_as, rate, replay_command
from acidtest.findings.titles import title
from acidtest.oracles.registry import ORACLES
from acidtest.targets.resolve import check_spec, expand_spec

FORMAT = "acidtest-findings/1"
CAMPAIGN = "campaign.sqlite"
FOLDER_COLUMN_WIDTH_MIN = 150
"""Narrower terminals need the room for what was found."""

Stored = tuple[Path, Finding]


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("wanted", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON (docs/findings.md).")
@click.option("--report", "as_report", is_flag=True, help="Print the Markdown reports, ready for a tracker.")
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
    elsewhere: bool,
    targets: tuple[str, ...],
) -> None:
    """List the findings of a campaign, or show the one with that ID.

    DIR is the directory of a campaign (`acidtest fuzz --out DIR`), a folder of findings, or one finding.
    ID is a finding's number, its digest or the beginning of it, or the name of its folder. The exit code is
    0 also if there are findings.

    \b
    acidtest findings DIR                      what was found, a line each
    acidtest findings DIR 1                    the first one: what happened, why it is wrong, how to replay it
    acidtest findings DIR 1 --report | less    the report for the bug tracker
    acidtest findings DIR --elsewhere          on which other installed servers do they show?
    acidtest findings DIR 2 --elsewhere -t 'mariadb@*'
    """
    if as_json and as_report:
        raise UsageError("--json and --report exclude each other")
    if targets and not elsewhere:
        raise UsageError("--target chooses where --elsewhere looks; add --elsewhere")
    chosen = _stored(directory)
    if wanted is not None:
        chosen = [_choose(chosen, wanted, directory)]
    if elsewhere:
        chosen = _look_elsewhere(chosen, targets)
    if as_json:
        click.echo(json.dumps({"format": FORMAT, "findings": [_to_json(*one) for one in chosen]}, indent=2))
    elif as_report:
        click.echo("\n---\n\n".join(_report_of(folder) for folder, _ in chosen), nl=False)
    elif not chosen:
        click.echo(f"no findings in {directory}")
    elif wanted is not None or _is_finding(directory):
        _show(*chosen[0])
    else:
        _list(chosen, directory)


# -- which


def _stored(directory: Path) -> list[Stored]:
    if not directory.is_dir():
        raise UsageError(f"{directory} is {'no directory' if directory.exists() else 'not there'}")
    if _is_finding(directory):
        return [(directory, read_finding(directory))]
    if (directory / "findings").is_dir():
        return read_findings(directory / "findings")
    if (directory / CAMPAIGN).exists():
        return []  # it has found nothing yet
    found = read_findings(directory)
    if not found and any(directory.iterdir()):
        raise UsageError(f"{directory} is neither the directory of a campaign nor a folder of findings")
    return found


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
        return look_elsewhere(stored, specs, tuple(ORACLES), progress)


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
    table = Table("#", "digest", "target", "level", "what", "known as", "shows", "found after")
    table.columns[0].justify = table.columns[-1].justify = "right"
    if wide:
        table.add_column("folder", no_wrap=True)
    for column in table.columns:
        column.overflow = "fold"  # nothing is cut off
    for folder, finding in stored:
        cells = [*_cells(folder, finding), *([Text(_name(folder))] if wide else [])]
        table.add_row(*cells)
    console.print(table)
    click.echo(f"{stored[0][0].parent} has a folder for each, with case, run, report and data. To see one:")
    click.echo(f"  {shlex.join(['acidtest', 'findings', str(directory), _id(stored[0][0])])}")


def _cells(folder: Path, finding: Finding) -> list[Text]:
    known = known_as(finding)
    return [
        Text(_number(folder)),
        Text(finding.digest),
        Text(printable(f"{finding.target} {finding.version}")),
        Text(printable(finding.level)),
        Text(printable(title(finding).partition(": ")[2])),
        Text(printable(known)) if known else Text("NEW", "bold red"),
        Text(f"{finding.shown}/{finding.runs}", "yellow" if finding.is_flaky else ""),
        Text(_duration(finding.seconds)),
    ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _show(folder: Path, finding: Finding) -> None:
    click.echo(click.style(f"{_number(folder)}. {printable(title(finding))}", bold=True))
    flaky = " (flaky)" if finding.is_flaky else ""
    click.echo(printable(f"{finding.target} {finding.version}, known as: {known_as(finding) or 'NEW'}"))
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
