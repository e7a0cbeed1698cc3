"""`acidtest bugs matrix`: which bug shows on which version at which level, side by side."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from acidtest.bugs.cells import Cell, Found
from acidtest.bugs.observing import Plan, observe_all
from acidtest.cli.bugs.choosing import choose_cases, choose_targets, with_expectations
from acidtest.cli.bugs.options import (
    at_once_option,
    fresh_option,
    patterns_argument,
    progress,
    targets_option,
)
from acidtest.cli.options import level_option
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.report.matrix import cells_to_json, matrix_as_html, matrix_as_markdown, rows_of, word_of

_STYLES = {
    Found.SHOWS: "bold red",
    Found.HIDDEN: "green",
    Found.ERROR: "green",
    Found.UNKNOWN: "yellow",
    Found.NOT_FOR: "dim",
}


@click.command()
@patterns_argument
@targets_option
@level_option
@click.option("--json", "as_json", is_flag=True, help="Print the cells as JSON (docs/matrix.md).")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write a page that needs nothing else.",
)
@at_once_option
@fresh_option
def matrix(
    patterns: tuple[str, ...],
    targets: tuple[str, ...],
    level: Level | str | None,
    as_json: bool,
    markdown: bool,
    html: Path | None,
    at_once: int,
    fresh: bool,
) -> None:
    """Run bugs on many servers: what shows where?

    \b
    shows      an expectation of the case is not met: the bug is there
    no         it does not show
    error      the DBMS broke a transaction off instead; the number is its error
    unknown    the run says nothing about the bug (--json tells why)
    -          the case is not for this DBMS or version, or the level does not exist there

    Servers are started as they are needed, a few at a time, and stopped again. What was observed with the
    same case, the same build of the server and the same acidtest is not run again, so an interrupted matrix
    goes on.

    \b
    acidtest bugs matrix                                     all bugs, all installed servers
    acidtest bugs matrix MDEV-26642 -t 'mariadb@*' -l all
    acidtest bugs matrix TIDB-33315 -t tidb@8.5.4 -t 'tidb@8.5.4?mode=optimistic' --markdown
    """
    if as_json + markdown + (html is not None) > 1:
        raise UsageError("--json, --markdown and --html exclude each other")
    cases = with_expectations(choose_cases(patterns))
    plan = Plan(cases, choose_targets(targets, cases), level, at_once, fresh)
    try:
        with progress(plan) as told:
            cells = observe_all(plan, told)
    except KeyboardInterrupt:
        click.echo("\nwhat was observed is kept: the same command goes on from here", err=True)
        raise
    if as_json:
        click.echo(json.dumps(cells_to_json(cells), indent=2))
    elif markdown:
        click.echo(matrix_as_markdown(cells))
    elif html is not None:
        html.write_text(matrix_as_html(cells), "utf-8")
        click.echo(f"wrote {html}", err=True)
    else:
        Console(width=None if sys.stdout.isatty() else 200).print(_as_table(cells))


def _as_table(cells: list[Cell]) -> Table:
    targets = list(dict.fromkeys(cell.target for cell in cells))
    table = Table("bug", "level", *targets)
    for (case, level), row in rows_of(cells).items():
        table.add_row(case, level, *(_word(row.get(one)) for one in targets))
    return table


def _word(cell: Cell | None) -> Text:
    return Text(word_of(cell), _STYLES[cell.found if cell else Found.NOT_FOR])
