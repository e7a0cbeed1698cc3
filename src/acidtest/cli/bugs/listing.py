"""`acidtest bugs list` and `show`."""

import json
import sys

import click
from rich.console import Console
from rich.table import Table

from acidtest import corpus
from acidtest.casefile import print_case
from acidtest.cli.bugs.choosing import choose_cases
from acidtest.cli.bugs.options import patterns_argument
from acidtest.cli.paint import paint
from acidtest.codec import encode
from acidtest.errors import UsageError
from acidtest.model import Case

FORMAT = "acidtest-bugs/1"


@click.command("list")
@patterns_argument
@click.option("--json", "as_json", is_flag=True, help="Print all that is known of them as JSON.")
def list_bugs(patterns: tuple[str, ...], as_json: bool) -> None:
    """List known bugs: id, DBMS, kind, levels of the report, status, title.

    \b
    acidtest bugs list
    acidtest bugs list tidb
    acidtest bugs list 'phantom|skew' --json
    """
    cases = choose_cases(patterns)
    if as_json:
        click.echo(json.dumps({"format": FORMAT, "bugs": [_to_json(case) for case in cases]}, indent=2))
        return
    table = Table("bug", "DBMS", "kind", "levels", "status", "title", box=None, pad_edge=False)
    for case in cases:
        bug = case.bug
        table.add_row(
            ", ".join(corpus.names(case)),
            ", ".join(dict.fromkeys(one.dbms for one in case.targets)),
            str(bug.kind or "") if bug else "",
            ", ".join(level.short for level in bug.levels) if bug else "",
            str(bug.status) if bug else "",
            case.title,
        )
    Console(width=None if sys.stdout.isatty() else 220, highlight=False).print(table)
    click.echo(f"{len(cases)} bugs; acidtest bugs show ID prints one", err=True)


def _to_json(case: Case) -> dict[str, object]:
    return {
        "id": case.id,
        "names": list(corpus.names(case)),
        "title": case.title,
        "links": list(case.links),
        "story": list(case.story),
        "dbms": list(dict.fromkeys(one.dbms for one in case.targets)),
        "sessions": len(case.transactions),
        "bug": encode(case.bug) if case.bug is not None else None,
    }


@click.command()
@patterns_argument
def show(patterns: tuple[str, ...]) -> None:
    """Print bugs as case files: to read, to run, or to start a case of your own from.

    \b
    acidtest bugs show MDEV-26642
    acidtest bugs show tidb-3 > some.sql
    """
    if not patterns:
        raise UsageError("which bug? acidtest bugs list shows all; name one, or a regular expression")
    for case in choose_cases(patterns):
        click.echo(paint(print_case(case)))
