"""`acidtest bench`: how fast, as ratios to the bare driver measured in the same run."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from acidtest.bench.app import AppResult, bench_app
from acidtest.bench.check import CheckResult, bench_check
from acidtest.bench.execute import ExecuteResult, bench_execute
from acidtest.bench.fuzz import FuzzResult, bench_fuzz
from acidtest.bench.graph import GraphResult, bench_graph
from acidtest.bench.judge import JudgeResult, bench_judge
from acidtest.bench.oracles import OraclesResult, bench_oracles
from acidtest.bench.reduce import ReduceResult, bench_reduce, stored_findings
from acidtest.cli.options import Decorator, complete_target, oracle_option
from acidtest.cli.progress import working
from acidtest.errors import UsageError
from acidtest.generate import profile_of
from acidtest.histories.generate import Isolation
from acidtest.oracles.registry import DEFAULT, check_names
from acidtest.targets import Target
from acidtest.targets.resolve import available_specs, check_spec, open_target, require_target

FORMAT = "acidtest-bench/1"


@click.group()
def bench() -> None:
    """Measure acidtest itself. Ratios mean something on any machine; absolute times only on yours."""


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Which targets, how many cases, and in what form."""
    options: list[Decorator] = [
        click.option(
            "-t",
            "--target",
            "targets",
            metavar="TARGET",
            multiple=True,
            shell_complete=complete_target,
            help="Measure on this target (may be repeated). Default: every target that needs no installing.",
        ),
        click.option(
            "--cases", type=click.IntRange(min=1), default=1000, show_default=True, help="Cases of each kind."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@bench.command()
@_options
def execute(targets: tuple[str, ...], cases: int, as_json: bool) -> None:
    """Compare the executor with the bare driver on the same cases.

    \b
    ratio           wall time through the executor / bare driver
    watching        share of the executor's time with a question about locks under way
    noticed         median time from launching a statement to the server's word that it waits
    """
    results = [
        result for target, say in _each(targets, as_json) for result in bench_execute(target, cases, say)
    ]
    _show(results, as_json, _execute_table)


@bench.command()
@oracle_option
@_options
def judge(oracles: tuple[str, ...], targets: tuple[str, ...], cases: int, as_json: bool) -> None:
    """Measure running and judging together, for each oracle, against the bare driver.

    \b
    ratio           wall time of run and verdict / bare driver without a verdict
    judging         share of that time that the oracle takes
    """
    names = check_names(oracles)
    results = [
        result for target, say in _each(targets, as_json) for result in bench_judge(target, names, cases, say)
    ]
    _show(results, as_json, _judge_table)


@bench.command()
@click.option("--profile", default="simple", show_default=True, metavar="PROFILE", help="What to generate.")
@_options
def oracles(profile: str, targets: tuple[str, ...], cases: int, as_json: bool) -> None:
    """Compare the default oracles with solver alone, on generated cases, at every level of a target.

    \b
    ratio           judged cases a minute with the default oracles / with solver alone
    median          the same, median of the turns
    CPU             the same by the time of this process, without what the server takes
    """
    profile_of(profile)
    results = [
        result
        for target, say in _each(targets, as_json)
        for result in bench_oracles(target, ("solver",), DEFAULT, profile, cases, say)
    ]
    _show(results, as_json, _oracles_table)


@bench.command()
@click.option(
    "-t",
    "--target",
    "target",
    metavar="TARGET",
    default="mariadb@10.11",
    show_default=True,
    shell_complete=complete_target,
    help="Reduce on this target.",
)
@click.option(
    "--cases",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Reduce the case files of this folder.  [default: findings that come with acidtest]",
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Seeds per finding.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def reduce(target: str, folder: Path | None, seeds: int, as_json: bool) -> None:
    """Compare the reducer's policies on findings of the fuzzer that nobody has reduced yet.

    \b
    removed         share of the characters that are gone in the end
    valid           share of the runs whose candidate was kept
    runs to 90%     runs after which 90% of what was removed in the end was gone
    """
    results = [
        result
        for opened, say in _each((target,), as_json)
        for result in bench_reduce(opened, folder or stored_findings(), range(1, seeds + 1), say)
    ]
    _show(results, as_json, _reduce_table)


@bench.command()
@click.option(
    "-t",
    "--target",
    "target",
    metavar="TARGET",
    default="mariadb@10.11",
    show_default=True,
    shell_complete=complete_target,
    help="Fuzz this target.",
)
@click.option("--profile", default="simple", show_default=True, metavar="PROFILE", help="What to generate.")
@click.option("--oracle", default="solver", show_default=True, metavar="ORACLE", help="What to judge with.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    multiple=True,
    default=(1, 2),
    show_default=True,
    help="Processes at once (may be repeated).",
)
@click.option(
    "--cases", type=click.IntRange(min=10), default=3000, show_default=True, help="Cases of each worker."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def fuzz(target: str, profile: str, oracle: str, workers: tuple[int, ...], cases: int, as_json: bool) -> None:
    """Measure generated cases through the whole pipeline, with one worker process and with more.

    \b
    speed-up        judged cases a minute / the same with the first number of workers
    ratio           wall time of cases in which nobody waits / bare driver with the same statements
    memory          growth of a worker's memory over all its cases
    """
    profile_of(profile)
    if not check_names([oracle]):
        raise UsageError("there is nothing to judge without an oracle; leave out --oracle none")
    require_target(target)
    console = Console(stderr=True, quiet=as_json)
    say: Callable[[str], object] = lambda step: console.print(f"{target}: {step} ...")  # noqa: E731
    _show(bench_fuzz(target, profile, oracle, cases, workers, say), as_json, _fuzz_table)


@bench.command()
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    default=("mariadb@10.11", "postgres@18"),
    show_default=True,
    shell_complete=complete_target,
    help="Measure on this target (may be repeated).",
)
@click.option("--profile", default="rich", show_default=True, metavar="PROFILE", help="What to generate.")
@click.option(
    "--oracle",
    "oracles",
    multiple=True,
    default=("graph",),
    show_default=True,
    metavar="ORACLE",
    help="What to judge with (may be repeated).",
)
@click.option("--cases", type=click.IntRange(min=1), default=1000, show_default=True, help="Cases.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def graph(
    targets: tuple[str, ...], profile: str, oracles: tuple[str, ...], cases: int, as_json: bool
) -> None:
    """Measure instrumented cases: run, traced from the versions that they show, and judged; one worker.

    \b
    judged/min      instrumented cases that were decided
    round trips     statements sent / statements of the case without versions
    torn            share of the probes that another session came before
    """
    profile_of(profile)
    names = check_names(oracles)
    results = [bench_graph(target, names, profile, cases, say) for target, say in _each(targets, as_json)]
    _show(results, as_json, _graph_table)


@bench.command()
@click.option(
    "--transactions",
    type=click.IntRange(min=1),
    multiple=True,
    default=(10_000, 100_000, 1_000_000),
    show_default=True,
    help="Transactions of a history (may be repeated).",
)
@click.option(
    "--isolation",
    type=click.Choice([one.value for one in Isolation]),
    default=Isolation.SERIALIZABLE.value,
    show_default=True,
    help="What the simulated database keeps. Only a clean history is checked by arrays.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Makes the histories.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def check(transactions: tuple[int, ...], isolation: str, seed: int, as_json: bool) -> None:
    """Check generated histories of growing size; see `acidtest check`.

    \b
    path            plain: the standard library alone; arrays: with the extra acidtest[check]
    txn/s           transactions a second of processor time, reading the file included
    memory          the most that the process held
    """
    console = Console(stderr=True, quiet=as_json)
    say: Callable[[str], object] = lambda step: console.print(f"{step} ...")  # noqa: E731
    _show(list(bench_check(transactions, Isolation(isolation), seed, say)), as_json, _check_table)


@bench.command()
@click.option(
    "--target",
    default="postgres@18",
    show_default=True,
    metavar="SPEC",
    shell_complete=complete_target,
    help="A PostgreSQL server that is installed.",
)
@click.option("--runs", type=click.IntRange(min=1), default=100, show_default=True, help="Runs of each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON (docs/json.md).")
def app(target: str, runs: int, as_json: bool) -> None:
    """What the gate of application testing costs a statement, and how many orders it forces in a second.

    The base is the same operation without a gate, in the same process.
    """
    with working() as say:
        results = bench_app(target, runs, say)
    _show(results, as_json, _app_table)


def _app_table(results: Sequence[AppResult]) -> Table:
    table = _table(
        ("target", "operation"), ("statements", "plain ms", "gated ms", "gate us/statement", "orders/s")
    )
    for one in results:
        table.add_row(
            one.target,
            one.operation,
            str(one.statements),
            f"{one.plain_ms:.2f}",
            f"{one.gated_ms:.2f}",
            f"{one.gate_us:.0f}",
            f"{one.runs_per_second:.0f}",
        )
    return table


def _each(targets: Sequence[str], quiet: bool) -> Iterator[tuple[Target, Callable[[str], object]]]:
    """Open one target after the other; say on standard error what is being measured."""
    specs = targets or available_specs()
    for spec in specs:
        check_spec(spec)
    console = Console(stderr=True, quiet=quiet)
    for spec in specs:
        with open_target(spec) as target:
            yield target, lambda step, label=target.label: console.print(f"{label}: {step} ...")  # type: ignore[misc]


def _show(results: Sequence[Any], as_json: bool, table: Callable[[Sequence[Any]], Table]) -> None:
    if as_json:
        click.echo(json.dumps({"format": FORMAT, "results": [asdict(one) for one in results]}, indent=2))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(table(results))


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(*words)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _execute_table(results: Sequence[ExecuteResult]) -> Table:
    table = _table(
        ("target", "version", "kind"),
        ("cases/min", "bare/min", "ratio", "watching", "questions/case", "noticed ms"),
    )
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


def _judge_table(results: Sequence[JudgeResult]) -> Table:
    table = _table(
        ("target", "version", "oracle", "kind"), ("judged/min", "ratio to bare", "judging", "undecided")
    )
    for result in results:
        table.add_row(
            result.target,
            result.version,
            result.oracle,
            result.kind,
            f"{result.cases_per_minute:,.0f}",
            f"{result.ratio:.2f}",
            f"{result.judging_share:.0%}",
            str(result.undecided),
        )
    return table


def _oracles_table(results: Sequence[OraclesResult]) -> Table:
    table = _table(("target", "version", "level"), ("solver ms", "default ms", "ratio", "median", "CPU"))
    for result in results:
        table.add_row(
            result.target,
            result.version,
            result.level,
            f"{result.alone_ms:.2f}",
            f"{result.together_ms:.2f}",
            f"{result.ratio:.2f}",
            f"{result.median_ratio:.2f}",
            f"{result.cpu_ratio:.2f}",
        )
    return table


def _graph_table(results: Sequence[GraphResult]) -> Table:
    table = _table(
        ("target", "version"),
        ("judged/min", "round trips", "torn", "gen ms", "run ms", "judge ms", "undecided", "instrumented"),
    )
    table.title = f"profile {results[0].profile}, {', '.join(results[0].oracles)}"
    for result in results:
        table.add_row(
            result.target,
            result.version,
            f"{result.judged_per_minute:,.0f}",
            f"{result.round_trips:.2f}",
            f"{result.torn / max(result.probes, 1):.1%}",
            f"{result.generate_ms:.2f}",
            f"{result.execute_ms:.2f}",
            f"{result.judge_ms:.2f}",
            str(result.undecided),
            f"{result.instrumented} of {result.cases}",
        )
    return table


def _fuzz_table(results: Sequence[FuzzResult]) -> Table:
    table = _table(
        ("workers",),
        ("judged/min", "speed-up", "ratio", "gen ms", "run ms", "judge ms", "undecided", "memory"),
    )
    first = results[0]
    table.title = f"{first.target} ({first.version}), profile {first.profile}, {first.oracle}"
    for result in results:
        table.add_row(
            str(result.workers),
            f"{result.judged_per_minute:,.0f}",
            f"{result.speedup:.2f}",
            f"{result.ratio:.2f}",
            f"{result.generate_ms:.2f}",
            f"{result.execute_ms:.2f}",
            f"{result.judge_ms:.2f}",
            f"{result.undecided / result.cases:.2%}",
            f"+{result.memory_growth_mb:.1f} MB",
        )
    return table


def _check_table(results: Sequence[CheckResult]) -> Table:
    table = _table(
        ("history", "model", "path"), ("transactions", "MB", "anomalies", "seconds", "txn/s", "memory")
    )
    table.title = f"histories of a {results[0].isolation} database"
    for result in results:
        table.add_row(
            result.history,
            result.model,
            result.path,
            f"{result.transactions:,}",
            f"{result.megabytes:,.1f}",
            str(result.anomalies),
            f"{result.seconds:.2f}",
            f"{result.transactions_per_second:,.0f}",
            f"{result.memory_mb:,.0f} MB",
        )
    return table


def _reduce_table(results: Sequence[ReduceResult]) -> Table:
    table = _table(("policy",), ("removed", "valid", "runs", "runs to 90%", "statements left", "minimal"))
    table.title = f"{results[0].findings} findings on {results[0].target} ({results[0].version})"
    for result in results:
        table.add_row(
            result.policy,
            f"{result.reduction_rate:.1%}",
            f"{result.validity:.0%}",
            f"{result.runs:.1f}",
            f"{result.runs_to_most:.1f}",
            f"{result.statements:.1f}",
            f"{result.minimal} of {result.reductions}",
        )
    return table
