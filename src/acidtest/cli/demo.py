"""`acidtest demo`: the main job in one command, on a machine that has nothing yet."""

from itertools import count
from pathlib import Path

import click

from acidtest import servers
from acidtest.cli.findings import findings
from acidtest.cli.fuzz import fuzz, parse_duration
from acidtest.cli.progress import working
from acidtest.errors import TargetFailedError

REAL = "mariadb@10.11"
PLANTED = "postgres?fault=weaker-level"
"""An embedded PostgreSQL that runs at READ COMMITTED, whatever level is asked for."""

FINDINGS = 1
"""The exit code of `acidtest fuzz` for findings, which are what a demo is for."""


@click.command()
@click.option("--for", "duration", default="60s", show_default=True, metavar="TIME", help="How long to fuzz.")
@click.pass_context
def demo(context: click.Context, duration: str) -> int:
    """Fuzz a real MariaDB for a minute, and show the first thing that it gets wrong.

    The server is downloaded into the cache if it is not there. Where none can be had, the embedded PostgreSQL
    is fuzzed with a planted fault, and called that.
    """
    parse_duration(duration)  # refused before a server is looked for
    target = _provide()
    folder = next(path for number in count(1) if not (path := Path(f"acidtest-demo-{number}")).exists())
    arguments = [target, "--for", duration, "--out", str(folder), "--no-elsewhere"]
    code = int(context.invoke(fuzz, **_parsed(fuzz, arguments)))
    if any((folder / "findings").iterdir()):
        click.echo("\nThe first finding:\n")
        context.invoke(findings, **_parsed(findings, [str(folder), "1"]))
    else:
        click.echo(f"nothing was found this time; acidtest fuzz --resume {folder} --for 10m looks further")
    return 0 if code == FINDINGS else code


def _parsed(command: click.Command, arguments: list[str]) -> dict[str, object]:
    """What the command would be called with, had the user written these arguments."""
    return dict(command.make_context(command.name, arguments).params)


def _provide() -> str:
    """The real server, or the planted fault where it cannot be had."""
    try:
        with working() as progress:
            progress(f"looking for {REAL}, downloading it if need be")
            servers.install(REAL)
    except TargetFailedError as error:
        click.echo(f"no {REAL} can be had here: {error}", err=True)
        click.echo(
            "fuzzing the embedded PostgreSQL with a PLANTED FAULT instead: it runs at READ COMMITTED, "
            "whatever level is asked for",
            err=True,
        )
        return PLANTED
    return REAL
