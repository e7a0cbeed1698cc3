"""`acidtest bugs analyse`: at which levels bugs show, beside the thesis' numbers."""

import json
from pathlib import Path

import click

from acidtest.bugs.analysis import analyse as analyse_cells
from acidtest.bugs.observing import Plan, observe_all
from acidtest.cli.bugs.choosing import choose_cases, choose_targets, with_expectations
from acidtest.cli.bugs.options import (
    at_once_option,
    fresh_option,
    patterns_argument,
    progress,
    targets_option,
)
from acidtest.errors import UsageError
from acidtest.report.analysis import analysis_as_markdown, analysis_as_svg, analysis_to_json
from acidtest.targets.resolve import dbms_of


@click.command()
@patterns_argument
@targets_option
@at_once_option
@fresh_option
@click.option("--json", "as_json", is_flag=True, help="Print counts and bugs as JSON.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE.svg",
    help="Write a plot of the subsets of levels (UpSet).",
)
def analyse(
    patterns: tuple[str, ...],
    targets: tuple[str, ...],
    at_once: int,
    fresh: bool,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Say at which isolation levels bugs show, by DBMS, kind, paper and number of sessions.

    This repeats the correlation study of the ReplBug thesis with our own matrix at every level, and prints
    our numbers beside those of the thesis.

    \b
    acidtest bugs analyse
    acidtest bugs analyse tidb -t tidb@5.4.2 --plot levels.svg
    """
    if plot is not None and plot.suffix != ".svg":
        raise UsageError(f"the plot is an SVG picture; name it {plot.with_suffix('.svg')}")
    cases = with_expectations(choose_cases(patterns))
    plan = Plan(cases, choose_targets(targets, cases), "all", at_once, fresh)
    with progress(plan) as told:
        cells = observe_all(plan, told)
    analysis = analyse_cells(cases, cells, dbms_of)
    if plot is not None:
        plot.write_text(analysis_as_svg(analysis), "utf-8")
        click.echo(f"wrote {plot}", err=True)
    if as_json:
        click.echo(json.dumps(analysis_to_json(analysis), indent=2))
    else:
        click.echo(analysis_as_markdown(analysis), nl=False)
