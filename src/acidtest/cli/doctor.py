"""`acidtest doctor`: what this machine can do, and what is missing."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

import click

from acidtest.doctor import Check, Lookups, examine, is_ready, start_problem
from acidtest.errors import TargetFailedError

FORMAT = "acidtest-doctor/1"
COLUMN = 22


@click.command()
@click.option(
    "--start", is_flag=True, help="Start and stop every installed server, instead of asking versions."
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON (docs/json.md).")
def doctor(start: bool, as_json: bool) -> int:
    """Say what this machine can do, what is missing, and the remedy for each.

    \b
    ok         it is there
    missing    something cannot be done without it; everything else can
    NEEDED     the default server cannot be tested without it

    \b
    acidtest doctor             a few seconds
    acidtest doctor --start     whether the installed servers really start

    Exit codes: 0 the default server can be tested here, 3 it cannot.
    """
    checks = examine(Lookups(server_problem=start_problem) if start else Lookups())
    ready = is_ready(checks)
    if as_json:
        document = {"format": FORMAT, "ready": ready, "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(document, indent=2))
    else:
        _print(checks)
    return 0 if ready else TargetFailedError.exit_code


def _print(checks: Sequence[Check]) -> None:
    for area, group in groupby(checks, key=lambda check: check.area):
        click.echo(area)
        for check in group:
            click.echo(_line(check))
    missing = sum(not check.fine for check in checks)
    able = "can" if is_ready(checks) else "cannot"
    rest = f"{missing} of {len(checks)} things are missing" if missing else "nothing is missing"
    click.echo(f"\nThis machine {able} test the default server; {rest}.")


def _line(check: Check) -> str:
    name = f"{check.name:{COLUMN}} "
    if check.fine:
        return f"  ok       {name}{check.found}"
    word, colour = ("NEEDED ", "red") if check.needed else ("missing", "yellow")
    return f"  {click.style(word, fg=colour)}  {name}{check.remedy}"
