"""`acidtest bench`: how fast, as ratios to the bare driver measured in the same run."""

import json
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from acidtest.bench.execute import ExecuteResult, bench_execute
from acidtest.cli.options import complete_target
from acidtest.targets.resolve import available_specs, check_spec, open_target

FORMAT = "acidtest-bench/1"


@click.group()
def bench() -> None:
    """Measure acidtest itself. Ratios mean something on any machine; absolute times only on yours."""


@bench.command()
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    shell_complete=complete_target,
    help="Measure on this target (may be repeated). Default: every target that needs no installing.",
)
@click.option(
    "--cases", type=click.IntRange(min=1), default=1000, show_default=True, help="Cases of each kind."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def execute(targets: tuple[str, ...], cases: int, as_json: bool) -> None:
    """Compare the executor with the bare driver on the same cases.

    \b
    ratio           wall time through the executor / bare driver
    watching        share of the executor's time with a question about locks under way
    noticed         median time from launching a statement to the server's word that it waits
    """
    specs = targets or tuple(available_specs())
    for spec in specs:
        check_spec(spec)
    results: list[ExecuteResult] = []
    progress = Console(stderr=True)
    for spec in specs:
        with open_target(spec) as target:
            say = (
                (lambda kind, label=target.label: progress.print(f"{label}: {kind} ..."))
                if not as_json
                else _mute
            )
            results += bench_execute(target, cases, say)
    if as_json:
        click.echo(
            json.dumps({"format": FORMAT, "results": [asdict(result) for result in results]}, indent=2)
        )
    else:
        Console().print(_table(results))


def _mute(_kind: str) -> None:
    pass


def _table(results: list[ExecuteResult]) -> Table:
    table = Table("target", "version", "kind")
    for name in ("cases/min", "bare/min", "ratio", "watching", "questions/case", "noticed ms"):
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(
            result.target,
            result.version,
            result.kind,
            f"{result.cases_per_minute:,.0f}",
            f"{result.bare_cases_per_minute:,.0f}",
            f"{result.ratio:.2f}",
            f"{result.watching_share:.0%}",
            f"{result.questions_per_case:.1f}",
            "" if result.blocked_noticed_ms is None else f"{result.blocked_noticed_ms:.2f}",
        )
    return table
