"""`acidtest corpus`: the cases that come with acidtest."""

import click
from rich.console import Console
from rich.table import Table

from acidtest import corpus as cases
from acidtest.casefile import describe_constraints
from acidtest.model import Case


@click.command()
@click.argument("id", required=False)
def corpus(id: str | None) -> None:
    """List the known bugs and classical anomalies, or print the case file of one ID.

    \b
    acidtest corpus                 all of them
    acidtest corpus MDEV-26642      its case file, to read or to start a case of your own from
    acidtest run MDEV-26642         run it
    """
    if id is not None:
        click.echo(cases.find(id).read_text(encoding="utf-8"), nl=False)
        return
    console = Console()
    for title, group in (("Known bugs", cases.bugs()), ("Classical anomalies", cases.anomalies())):
        console.print(_table(title, group))


def _table(title: str, group: tuple[Case, ...]) -> Table:
    table = Table("id", "level", "for", "title", title=title, title_justify="left")
    for case in group:
        levels = sorted({tx.level.short for tx in case.transactions if tx.level is not None})
        table.add_row(case.id, ", ".join(levels) or "any", describe_constraints(case) or "any", case.title)
    return table
