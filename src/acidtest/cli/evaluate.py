"""`acidtest evaluate`: the tables of papers, repeated on findings of our own."""

import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from acidtest.cli.options import complete_target
from acidtest.cli.output import say
from acidtest.evaluation import COUNTED_MAX, PAPER, Evaluated, evaluate_corpus, evaluate_planted
from acidtest.simulated import BEHAVIOURS
from acidtest.targets.resolve import available_specs, require_target

FORMAT = "acidtest-evaluate/1"


@click.group()
def evaluate() -> None:
    """Repeat the tables of papers on findings of our own, beside the papers' numbers."""


@evaluate.command()
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    shell_complete=complete_target,
    help="Look for bugs of the corpus here (may be repeated).  [default: all that are installed]",
)
@click.option(
    "--engine",
    "engines",
    multiple=True,
    type=click.Choice(list(BEHAVIOURS)),
    help="Plant faults in this engine only (may be repeated).",
)
@click.option(
    "--orders",
    type=click.IntRange(1, COUNTED_MAX),
    default=200,
    show_default=True,
    help="Orders to try of each case; of more, so many are drawn.",
)
@click.option(
    "--cases", type=click.IntRange(0), default=60, show_default=True, help="Random cases per planted fault."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random cases.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON instead.")
def txcheck(
    targets: tuple[str, ...], engines: tuple[str, ...], orders: int, cases: int, seed: int, as_json: bool
) -> None:
    """TxCheck's Tables 4 and 5: how many orders of statements show a bug, and how many cases have a cycle in
    the graph of their transactions.

    TxCheck runs statements without transactions in one random topological order. If few orders showed a bug,
    that would miss many; and if it ordered transactions instead of statements, cases with a cycle between
    transactions could not be ordered at all. Cases are the bugs of the corpus that `replay` sees on installed
    servers, and for each planted fault the first random case that shows it, not reduced.

    \b
    acidtest evaluate txcheck                             everything that is installed, and all engines
    acidtest evaluate txcheck -t mariadb@10.11 --cases 0  the corpus on one server
    """
    for spec in targets:
        require_target(spec)
    found: list[Evaluated] = []
    for one in _all(targets or _installed(), engines or tuple(BEHAVIOURS), orders, cases, seed):
        found.append(one)
        if sys.stderr.isatty():
            say(f"{one.target} {one.name}")
    click.echo(_as_json(found) if as_json else _as_text(found), nl=False)


def _installed() -> tuple[str, ...]:
    return tuple(spec for spec in available_specs() if not spec.startswith("simulated"))


def _all(
    targets: Sequence[str], engines: Sequence[str], orders: int, cases: int, seed: int
) -> Iterable[Evaluated]:
    yield from evaluate_corpus(targets, orders)
    if cases:
        yield from evaluate_planted(engines, seed, cases, orders)


def _as_json(found: Sequence[Evaluated]) -> str:
    document = {
        "format": FORMAT,
        "cases": [asdict(one) for one in found],
        "paper": [asdict(row) for row in PAPER],
    }
    return json.dumps(document, indent=2) + "\n"


def _as_text(found: Sequence[Evaluated]) -> str:
    told = io.StringIO()
    console = Console(width=110, file=told, color_system=None)
    console.print("Cycles in the graph of transactions (Table 4)")
    console.print(_cycles(found))
    console.print("Orders that show the bug (Table 5)")
    console.print(_orders(found))
    lines = [line.rstrip() for line in told.getvalue().splitlines()]
    return "\n".join([*lines, *map(_partly, _not_always(found))]) + "\n"


def _not_always(found: Sequence[Evaluated]) -> list[Evaluated]:
    return [one for one in found if not one.by_cycle and one.triggered < one.tried]


def _partly(one: Evaluated) -> str:
    return f"{one.name} on {one.target} at {one.level}: {one.triggered} of {one.tried} orders show it"


def _table(*heads: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for head in heads:
        table.add_column(head, justify="left" if head in ("", "case", "target", "level") else "right")
    return table


def _groups(found: Sequence[Evaluated]) -> dict[str, list[Evaluated]]:
    """By DBMS; planted faults stand for themselves."""
    groups: dict[str, list[Evaluated]] = {}
    for one in found:
        groups.setdefault("planted faults" if one.planted else one.dbms, []).append(one)
    return groups


def _cycles(found: Sequence[Evaluated]) -> Table:
    table = _table("", "cases", "with a cycle", "share")
    for name, group in _groups(found).items():
        cyclic = sum(one.cyclic for one in group)
        table.add_row(name, str(len(group)), str(cyclic), _share(cyclic, len(group)))
    for row in PAPER:
        table.add_row(f"paper, {row.dbms}", str(row.cases), str(row.cyclic), _share(row.cyclic, row.cases))
    return table


def _orders(found: Sequence[Evaluated]) -> Table:
    table = _table("", "cases", "all orders", "some", "none", "by a forbidden cycle", "orders tried", "share")
    for name, group in _groups(found).items():
        ordered = [one for one in group if not one.by_cycle]
        tried, triggered = sum(one.tried for one in ordered), sum(one.triggered for one in ordered)
        always = sum(one.triggered == one.tried for one in ordered)
        never = sum(one.triggered == 0 for one in ordered)
        counts = (
            len(ordered),
            always,
            len(ordered) - always - never,
            never,
            len(group) - len(ordered),
            tried,
        )
        table.add_row(name, *map(str, counts), _share(triggered, tried))
    for row in PAPER:
        rest = row.with_orders - row.always
        told = (row.with_orders, row.always, rest, 0, row.cases - row.with_orders)
        table.add_row(f"paper, {row.dbms}", *map(str, told), "", "97-100 %" if rest else "100 %")
    return table


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""
