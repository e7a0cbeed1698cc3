"""`acidtest bugs run`: which bugs show on these targets."""

import json
from collections.abc import Sequence

import click

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
from acidtest.model import Level
from acidtest.report.matrix import cells_to_json


@click.command()
@patterns_argument
@targets_option
@level_option
@at_once_option
@fresh_option
@click.option("--json", "as_json", is_flag=True, help="Print the cells as JSON (docs/matrix.md).")
def run(
    patterns: tuple[str, ...],
    targets: tuple[str, ...],
    level: Level | str | None,
    at_once: int,
    fresh: bool,
    as_json: bool,
) -> int:
    """Run bugs on targets at every isolation level, and say which show. The exit code is 1 if one does.

    `acidtest run ID` shows a single run with every statement, wait and verdict.

    \b
    acidtest bugs run -t mysql@9.7                    all bugs that are for it
    acidtest bugs run MDEV-26642                      everywhere
    acidtest bugs run 'tidb-2' -t tidb@5.4.2 -l RC
    """
    cases = with_expectations(choose_cases(patterns))
    plan = Plan(cases, choose_targets(targets, cases), level or "all", at_once, fresh)
    with progress(plan) as told:
        cells = observe_all(plan, told)
    if as_json:
        click.echo(json.dumps(cells_to_json(cells), indent=2))
    else:
        _tell(cells)
    return 1 if any(cell.found is Found.SHOWS for cell in cells) else 0


def _tell(cells: Sequence[Cell]) -> None:
    """A line for every bug and target that have to do with each other."""
    lines: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.found is not Found.NOT_FOR:
            lines.setdefault((cell.case, cell.target), []).append(cell)
    for (case, target), own in lines.items():
        click.echo(f"{case} on {target}: {_words(own)}")
    shown = {cell.case for cell in cells if cell.found is Found.SHOWS}
    tried = {case for case, _target in lines}
    click.echo(f"{len(shown)} of {len(tried)} bugs show")


def _words(cells: Sequence[Cell]) -> str:
    parts = []
    for found in Found:
        own = [cell for cell in cells if cell.found is found]
        if own:
            levels = ", ".join(f"{cell.level}{_rate(cell)}" for cell in own)
            why = f" ({own[0].detail})" if found in (Found.UNKNOWN, Found.ERROR) else ""
            parts.append(f"{found} at {levels}{why}")
    return "; ".join(parts)


def _rate(cell: Cell) -> str:
    return f" ({cell.shown} of {cell.runs})" if cell.runs > 1 else ""
