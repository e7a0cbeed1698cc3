"""`acidtest selftest`: do the oracles notice what they should?"""

import json
import sys
from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from acidtest.cli.options import complete_target, every_oracle_option
from acidtest.oracles.registry import BY_THEMSELVES, check_names
from acidtest.selftest import CLEAN, Downgrade, Kill, downgrades, kill_table
from acidtest.simulated import BEHAVIOURS
from acidtest.targets.resolve import check_spec, open_target

FORMAT = "acidtest-selftest/2"


@click.command()
@every_oracle_option
@click.option(
    "-t",
    "--target",
    metavar="TARGET",
    shell_complete=complete_target,
    help="Instead: run on this real DBMS at a weaker level than is claimed, and count what is noticed.",
)
@click.option(
    "--engine",
    "engines",
    multiple=True,
    type=click.Choice(list(BEHAVIOURS)),
    help="Plant faults in this engine only (can be given several times).",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random cases.")
@click.option(
    "--cases",
    "random_cases",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Random cases per fault and level, besides the fault's own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON (docs/json.md) instead.")
def selftest(
    oracles: tuple[str, ...],
    target: str | None,
    engines: tuple[str, ...],
    seed: int,
    random_cases: int,
    as_json: bool,
) -> int:
    """Prove the oracles: plant faults in the simulated target and print who notices which.

    Every row is a fault of an engine; a cell counts the runs in which the oracle found a violation of a kind
    that the fault shows as. The last row of an engine has no fault and must be empty. The oracle
    `differential` compares with the same engine without a fault. Exit code 1 if a fault survives all oracles,
    or if there is a false alarm.

    \b
    acidtest selftest                              the kill table of all engines
    acidtest selftest --engine ssi                 of one engine
    acidtest selftest --target mariadb@10.11       claim a level, run a weaker one
    """
    names = [name for name in check_names(oracles) if name != "crash"]  # nothing crashes here
    if target is not None:
        alone = [name for name in names if name in BY_THEMSELVES]
        return _downgrade(target, alone, seed, random_cases, as_json)
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("faults", total=None)
        kills = kill_table(
            engines or tuple(BEHAVIOURS),
            names,
            seed,
            random_cases,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    faults = [kill for kill in kills if kill.fault != CLEAN]
    clean = [kill for kill in kills if kill.fault == CLEAN]
    survivors = [kill.target for kill in faults if not kill.killed_by]
    if as_json:
        _print_json(faults, clean, survivors)
    else:
        _print_kills(kills, survivors, names)
    return 1 if survivors or any(kill.killed_by for kill in clean) else 0


def _print_json(faults: Sequence[Kill], clean: Sequence[Kill], survivors: Sequence[str]) -> None:
    oracles = clean[0].noticed
    document = {
        "format": FORMAT,
        "faults": [
            {
                "target": kill.target,
                "engine": kill.engine,
                "fault": kill.fault,
                "sentence": kill.sentence,
                "runs": kill.runs,
                "noticed": kill.noticed,
                "other_kinds": kill.mistaken,
                "killed_by": kill.killed_by,
            }
            for kill in faults
        ],
        "survivors": list(survivors),
        "clean_runs": sum(kill.runs for kill in clean),
        "false_alarms": {name: sum(kill.noticed[name] for kill in clean) for name in oracles},
    }
    click.echo(json.dumps(document, indent=2))


def _print_kills(kills: Sequence[Kill], survivors: Sequence[str], names: Sequence[str]) -> None:
    table = Table("engine", "fault", "runs", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in names:
        table.add_column(name, justify="right")
    for kill in kills:
        cells = [str(kill.noticed[name]) if kill.noticed[name] else "·" for name in names]
        table.add_row(kill.engine, kill.fault, str(kill.runs), *cells, end_section=kill.fault == CLEAN)
    console = Console()
    wide = console.options.update(max_width=1000)
    # Names must be read whole, so rather the lines are longer than the screen is wide.
    console.width = max(console.width, console.measure(table, options=wide).maximum)
    console.print(table)
    faults = [kill for kill in kills if kill.fault != CLEAN]
    twice = sum(len(kill.killed_by) >= 2 for kill in faults)
    console.print(
        f"{len(faults) - len(survivors)} of {len(faults)} faults killed, {twice} by two oracles or more"
        + (f"; survivors: {', '.join(survivors)}" if survivors else "")
    )


def _downgrade(spec: str, names: Sequence[str], seed: int, random_cases: int, as_json: bool) -> int:
    check_spec(spec)
    with (
        open_target(spec) as target,
        Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress,
    ):
        task = progress.add_task(f"downgrades on {target.label}", total=None)
        pairs = downgrades(
            target,
            names,
            seed,
            random_cases,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    if as_json:
        rows = [
            {"claimed": one.claimed, "ran": one.ran, "cases": one.cases, "noticed": one.noticed}
            for one in pairs
        ]
        click.echo(json.dumps({"format": FORMAT, "target": spec, "downgrades": rows}, indent=2))
    else:
        Console().print(_downgrade_table(pairs, names))
    return 0 if all(any(pair.noticed.values()) for pair in pairs) else 1


def _downgrade_table(pairs: Sequence[Downgrade], names: Sequence[str]) -> Table:
    table = Table("claimed", "ran at", "cases")
    for name in names:
        table.add_column(f"{name} noticed", justify="right")
    for pair in pairs:
        table.add_row(
            pair.claimed.short, pair.ran.short, str(pair.cases), *(str(pair.noticed[name]) for name in names)
        )
    return table
