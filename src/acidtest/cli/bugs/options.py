"""Options that the commands on bugs share, and their progress."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from acidtest.bugs.observing import Plan, Told
from acidtest.cli.options import complete_target

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

patterns_argument: Decorator = click.argument("patterns", nargs=-1, metavar="[REGEX|FILE]...")
targets_option: Decorator = click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    shell_complete=complete_target,
    help="NAME@VERSION; 'NAME@*' or a range for all installed ones; or an address.  [default: all installed]",
)
at_once_option: Decorator = click.option(
    "--at-once", type=click.IntRange(1, 16), default=2, show_default=True, help="Servers at a time."
)
fresh_option: Decorator = click.option(
    "--fresh", is_flag=True, help="Run everything again, whatever was observed before."
)


@contextmanager
def progress(plan: Plan) -> Iterator[Told]:
    """A bar on a terminal, a line for every finished target elsewhere; several threads tell it."""
    lock = Lock()
    if not sys.stderr.isatty():
        left = dict.fromkeys(plan.specs, plan.size() // max(1, len(plan.specs)))

        def tell(spec: str, done: int) -> None:
            with lock:
                left[spec] -= done
                if done and left[spec] <= 0:
                    click.echo(f"{spec}: done", err=True)

        yield tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting servers", total=plan.size())

        def show(spec: str, done: int) -> None:
            with lock:
                bar.update(task, description=spec, advance=done)

        yield show
