"""`acidtest levels`: which classical anomalies occur at which isolation level of a target."""

import json
import sys

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from acidtest.cli.options import EMBEDDED, chosen_levels, complete_target, level_option
from acidtest.corpus.level_table import Cell, LevelTable, Promise, observe_levels
from acidtest.corpus.levels import Observed
from acidtest.errors import TargetFailedError
from acidtest.execute import Executor
from acidtest.model import Level, Phenomenon
from acidtest.targets.resolve import check_spec, open_target

FORMAT = "acidtest-levels/1"

_WORDS = {
    Observed.OCCURS: Text("occurs", "bold red"),
    Observed.WAITING: Text("waiting", "green"),
    Observed.ERROR: Text("error", "green"),
    Observed.SNAPSHOT: Text("snapshot", "green"),
    Observed.UNKNOWN: Text("unknown", "yellow"),
}


_PROMISES = {
    Promise.OCCURS: Text("occurs", "bold red"),
    Promise.ALLOWED: Text("allowed", "yellow"),
    Promise.EXCLUDED: Text("excluded", "green"),
    Promise.BROKEN: Text("BROKEN", "bold white on red"),
}


@click.command()
@click.argument("target", default=EMBEDDED, shell_complete=complete_target)
@level_option
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON (docs/json.md) instead.")
def levels(target: str, level: Level | str | None, as_json: bool) -> None:
    """Run the classical anomalies on TARGET at every level, and print what came of each.

    \b
    occurs      the anomaly was seen
    waiting     prevented: a statement had to wait for the other transaction
    error       prevented: the DBMS broke a transaction off
    snapshot    prevented: the versions that were read rule it out

    A second table says of every phenomenon (docs/graphs.md) whether the level excludes it, and whether it
    occurred in one of these runs.

    Where the DBMS's documentation says otherwise the cell has a star, and a note below says what it says.

    \b
    acidtest levels                    the embedded PostgreSQL
    acidtest levels mariadb@10.11
    acidtest levels sqlite --json
    """
    check_spec(target)
    with open_target(target) as opened, Executor(opened) as executor:
        wanted = [one for one in chosen_levels(level or "all", opened) if one is not None]
        table = _observe(executor, wanted, show_progress=not as_json and sys.stderr.isatty())
    if as_json:
        click.echo(json.dumps({"format": FORMAT, **table.to_json()}, indent=2))
    else:
        _print(table)
    if any(cell.died for cell in table.cells.values()):
        raise TargetFailedError(f"{target} died while it ran the anomalies; the table says at which")


def _observe(executor: Executor, levels: list[Level], show_progress: bool) -> LevelTable:
    with Progress(console=Console(stderr=True), disable=not show_progress, transient=True) as progress:
        task = progress.add_task(f"anomalies on {executor.target.label}", total=None)
        return observe_levels(
            executor, levels, lambda done, total: progress.update(task, completed=done, total=total)
        )


def _print(table: LevelTable) -> None:
    console = Console()
    title = f"{table.target} ({table.version})"
    grid = Table("anomaly", *(level.short for level in table.levels), title=title)
    for case in table.anomalies:
        grid.add_row(case.title, *(_word(table.cells[case.id, level]) for level in table.levels))
    console.print(grid)
    console.print("waiting, error, snapshot: not seen, and what prevented it", style="dim")
    console.print(_phenomena(table))
    console.print("allowed: not excluded, and not seen in these runs", style="dim")
    for note in table.notes():
        console.print(f"* {note}", highlight=False, markup=False)


def _phenomena(table: LevelTable) -> Table:
    grid = Table("phenomenon", *(level.short for level in table.levels), title="what the level excludes")
    for one in Phenomenon:
        grid.add_row(one.text, *(_PROMISES[table.promise(one, level)] for level in table.levels))
    return grid


def _word(cell: Cell) -> Text:
    return _WORDS[cell.observed] + ("*" if cell.surprising else "")
