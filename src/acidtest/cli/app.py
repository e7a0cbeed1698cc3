"""`acidtest app`: interleavings of an application's operations, as app.toml names them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from acidtest.app.config import read_configuration
from acidtest.app.explore import analyse_with, explore_with, record_with
from acidtest.app.findings import store
from acidtest.cli.progress import working
from acidtest.model.application import Exploration, Judgement
from acidtest.report.application import (
    candidate_lines,
    exploration_json,
    exploration_text,
    schedule_lines,
)

_EXIT = {Judgement.HOLDS: 0, Judgement.VIOLATED: 1, Judgement.INCONCLUSIVE: 3}

config_option = click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    default=Path("app.toml"),
    show_default=True,
    help="What the operations are; docs/app.md shows one.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md) instead.")


@click.group()
def app() -> None:
    """Find the interleavings of an application's operations that break its data.

    In tests, use the pytest fixture `interleave` instead (docs/app.md). These commands do the same for
    operations that app.toml names.
    """


@app.command()
@config_option
def record(config: Path) -> None:
    """Run each operation alone, and print what it sends, with results and places in the source."""
    given = read_configuration(config)
    for operation, run in zip(given.operations, record_with(given.operations, given.options), strict=True):
        click.echo(f"{operation.name} = {operation.title}")
        click.echo("\n".join(schedule_lines(run)))


@app.command()
@config_option
def analyse(config: Path) -> None:
    """Print the orders that can differ from a serial one, the likeliest first; none is forced."""
    given = read_configuration(config)
    click.echo("\n".join(candidate_lines(analyse_with(given.operations, given.options))))


@app.command()
@config_option
@json_option
@click.option("--seconds", type=float, help="Stop after so long; what is left is told.")
@click.option("--runs", type=int, help="Force so many orders at most.")
@click.option("--exhaustive", is_flag=True, default=None, help="Every order up to a bound of preemptions.")
@click.option("--preemptions", type=int, help="That bound.")
@click.option("--findings", type=click.Path(path_type=Path), help="Store what goes wrong in this folder.")
def test(config: Path, as_json: bool, findings: Path | None, **options: Any) -> int:
    """Find, force and explain. Exit code 0: holds, 1: violated, 3: inconclusive."""
    chosen = {name: value for name, value in options.items() if value is not None}
    return _tell(_explored(config, **chosen), as_json, findings)


@app.command()
@click.argument("order")
@config_option
@json_option
def replay(order: str, config: Path, as_json: bool) -> int:
    """Force just the order with this id, such as A1-B-A."""
    return _tell(_explored(config, replay=order), as_json, None)


def _explored(config: Path, **options: Any) -> Exploration:
    given = read_configuration(config, **options)
    with working() as say:
        return explore_with(given.operations, given.options, _progress(say))


def _progress(say: Callable[[str], None]) -> Callable[[str, int, int], None]:
    told: set[str] = set()

    def progress(what: str, runs: int, total: int) -> None:
        line = f"{what} {runs} of {total}" if total else what
        if what not in told or runs % 20 == 0:
            told.add(what)
            say(line)

    return progress


def _tell(found: Exploration, as_json: bool, findings: Path | None) -> int:
    if findings is not None and found.race is not None:
        click.echo(f"stored in {store(found, findings)}", err=True)
    text = json.dumps(exploration_json(found), indent=2, default=str) if as_json else exploration_text(found)
    click.echo(text, nl=as_json)
    return _EXIT[found.judgement]
