"""`acidtest matrix`: which bug shows on which version at which level, on the servers that are installed."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from acidtest import corpus, servers
from acidtest.casefile import load_case
from acidtest.cli.options import case_file, complete_target, level_option
from acidtest.corpus.matrix import Cell, Found, observe_target, written_levels
from acidtest.errors import AcidtestError, UsageError
from acidtest.execute import Executor, Limits
from acidtest.model import Case, Level
from acidtest.targets.resolve import check_spec, expand_spec, open_target

FORMAT = "acidtest-matrix/1"
AT_ONCE = 2

_WORDS = {
    Found.SHOWS: Text("shows", "bold red"),
    Found.HIDDEN: Text("no", "green"),
    Found.ERROR: Text("error", "green"),
    Found.UNKNOWN: Text("unknown", "yellow"),
    Found.NOT_FOR: Text("-", "dim"),
}


@click.command()
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    shell_complete=complete_target,
    help="NAME@VERSION; 'NAME@*' or a range for all installed ones; or an address.  [default: all installed]",
)
@level_option
@click.option("--json", "as_json", is_flag=True, help="Print the cells as JSON (docs/matrix.md).")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.option(
    "--at-once", type=click.IntRange(1, 16), default=AT_ONCE, show_default=True, help="Servers at a time."
)
def matrix(
    cases: tuple[str, ...],
    targets: tuple[str, ...],
    level: Level | str | None,
    as_json: bool,
    markdown: bool,
    at_once: int,
) -> None:
    """Run CASEs (files, or ids of the corpus; left out: all its bugs) on many servers: what shows where?

    \b
    shows      an expectation of the case is not met: the bug is there
    no         it does not show
    error      the DBMS broke a transaction off instead; the number is its error
    unknown    the run says nothing about the bug (--json tells why)
    -          the case is not for this DBMS or version, or the level does not exist there

    Servers are started as they are needed, a few at a time, and stopped again.

    \b
    acidtest matrix                                          all bugs, all installed servers
    acidtest matrix MDEV-26642 -t 'mariadb@*' -l all
    acidtest matrix TIDB-33315 -t tidb@8.5.4 -t 'tidb@8.5.4?mode=optimistic' --markdown
    """
    if as_json and markdown:
        raise UsageError("--json and --markdown exclude each other")
    loaded = [load_case(case_file(name)) for name in cases] or list(corpus.bugs())
    for case in loaded:
        _require_expectations(case)
    specs = list(dict.fromkeys(one for spec in targets for one in expand_spec(spec))) or _all_installed()
    for spec in specs:
        check_spec(spec)
    cells = _observe_all(loaded, specs, level, at_once)
    if as_json:
        click.echo(json.dumps({"format": FORMAT, "cells": [_to_json(cell) for cell in cells]}, indent=2))
    elif markdown:
        click.echo(as_markdown(cells))
    else:
        Console(width=None if sys.stdout.isatty() else 200).print(_as_table(cells))


def _require_expectations(case: Case) -> None:
    if not case.expect_final and not any(step.statement.expect for step in case.steps):
        raise UsageError(f"{case.id} expects nothing, so nothing can show; add `-- expect:` to its file")


def _all_installed() -> list[str]:
    own = [one.spec for one in reversed(servers.installed())]
    if not own:
        raise UsageError(
            "no server is installed; run: acidtest server install postgres mariadb@10.11 mysql@9.7"
        )
    return list(dict.fromkeys(own))


def _observe_all(
    cases: Sequence[Case], specs: Sequence[str], level: Level | str | None, at_once: int
) -> list[Cell]:
    """All cells, target by target; one that cannot be opened gives unknown cells, not an end."""
    with _progress(len(specs)) as progress, ThreadPoolExecutor(at_once) as pool:
        columns = list(pool.map(lambda spec: _observe_one(cases, spec, level, progress), specs))
    return [cell for column in columns for cell in column]


def _observe_one(
    cases: Sequence[Case], spec: str, level: Level | str | None, progress: "Shown"
) -> list[Cell]:
    """Within one thread from start to stop: the server ends with the thread that started it."""
    try:
        with open_target(spec) as target, Executor(target, Limits()) as executor:
            return list(observe_target(executor, cases, level, progress.doing))
    except AcidtestError as error:
        return [
            Cell(
                case.id,
                level.short if isinstance(level, Level) else written_levels(case),
                spec,
                "",
                Found.UNKNOWN,
                str(error),
            )
            for case in cases
        ]
    finally:
        progress.done(spec)


class Shown:
    """Progress that several threads tell: a bar on a terminal, a line for every finished target elsewhere."""

    def __init__(self, on_doing: Callable[[str], None], on_done: Callable[[str], None]) -> None:
        self._lock = Lock()
        self._on_doing, self._on_done = on_doing, on_done

    def doing(self, what: str) -> None:
        with self._lock:
            self._on_doing(what)

    def done(self, spec: str) -> None:
        with self._lock:
            self._on_done(spec)


@contextmanager
def _progress(total: int) -> Iterator[Shown]:
    if not sys.stderr.isatty():
        yield Shown(lambda _what: None, lambda spec: click.echo(f"{spec}: done", err=True))
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield Shown(
            lambda what: bar.update(task, description=what), lambda _spec: bar.update(task, advance=1)
        )


def as_markdown(cells: Sequence[Cell]) -> str:
    """A row for every bug and level, a column for every target."""
    targets = list(dict.fromkeys(cell.target for cell in cells))
    lines = [f"| bug | level | {' | '.join(targets)} |", "|---" * (len(targets) + 2) + "|"]
    for (case, level), row in _rows(cells).items():
        lines.append(f"| {case} | {level} | {' | '.join(_word(row.get(one)).plain for one in targets)} |")
    return "\n".join(lines)


def _as_table(cells: Sequence[Cell]) -> Table:
    targets = list(dict.fromkeys(cell.target for cell in cells))
    table = Table("bug", "level", *targets)
    for (case, level), row in _rows(cells).items():
        table.add_row(case, level, *(_word(row.get(one)) for one in targets))
    return table


def _rows(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[str, Cell]]:
    """Cells by case and level, in the order of cases and levels, then by target."""
    order = {level.short: position for position, level in enumerate(Level)}
    cases = list(dict.fromkeys(cell.case for cell in cells))
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for cell in sorted(cells, key=lambda cell: (cases.index(cell.case), order.get(cell.level, -1))):
        rows.setdefault((cell.case, cell.level), {})[cell.target] = cell
    return rows


def _word(cell: Cell | None) -> Text:
    if cell is None:
        return _WORDS[Found.NOT_FOR]
    if cell.found is Found.ERROR:
        return Text(cell.detail, "green")
    return _WORDS[cell.found]


def _to_json(cell: Cell) -> dict[str, str]:
    return {
        "case": cell.case,
        "level": cell.level,
        "target": cell.target,
        "version": cell.version,
        "found": cell.found.value,
        "detail": cell.detail,
    }
