"""`acidtest check`: which consistency models a recorded history keeps, and what breaks the others."""

import json
from pathlib import Path

import click

from acidtest.cli.progress import working
from acidtest.histories import FORMATS, MODELS, Assumption, Model, Options, Standing, check_file, find_model
from acidtest.histories.formats.text import size_of
from acidtest.report.checked import checked_to_json, print_checked

_LARGE = 8 << 20
"""Bytes from which on progress is worth telling."""


def _parse_model(_context: click.Context, _param: click.Parameter, text: str | None) -> Model | None:
    return None if text is None else find_model(text)


def _complete_model(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [model.name for model in MODELS if model.name.startswith(incomplete)]


@click.command()
@click.argument("history", type=click.Path(path_type=Path), metavar="FILE|DIR")
@click.option(
    "--model",
    metavar="MODEL",
    callback=_parse_model,
    shell_complete=_complete_model,
    help="Check this consistency model alone, for instance serializable, snapshot-isolation, read-atomic.  "
    "[default: all]",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="The format of the history.  [default: told by its content]",
)
@click.option(
    "--assume",
    type=click.Choice([one.value for one in Assumption]),
    default=Assumption.NOTHING.value,
    show_default=True,
    help="Registers only: take each key by itself for sequentially consistent, or linearizable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON (docs/json.md) instead.")
def check(history: Path, model: Model | None, format_name: str | None, assume: str, as_json: bool) -> int:
    """Check a history of transactions that somebody recorded.

    It names the anomalies, each with a witness, and says which consistency models hold and which do not.

    It reads histories of Jepsen and Elle (EDN and JSON; list-append and rw-register), of Plume, PolySI and
    IsoVista, AWDIT, Cobra, and DBCop. What the history cannot tell is `unknown`.

    \b
    acidtest check history.edn                               all models
    acidtest check history.edn --model snapshot-isolation    one model, and only what it excludes
    acidtest check history.txt --model causal --json
    acidtest check cobra-logs/                               a folder of *.log files

    Exit codes: 0 the model holds or is unknown (without --model: no anomaly was found), 1 it is violated
    (without --model: an anomaly was found), 2 the history cannot be read. See docs/check.md.
    """
    options = Options(model, format_name, Assumption(assume))
    if history.exists() and size_of(history) >= _LARGE:
        with working() as say:
            checked = check_file(history, options, say)
    else:
        checked = check_file(history, options, lambda _: None)
    if as_json:
        click.echo(json.dumps(checked_to_json(checked, model), indent=2))
    else:
        click.echo(print_checked(checked, model), nl=False)
    if model is None:
        return int(bool(checked.anomalies))
    return int(checked.models[model.name] is Standing.VIOLATED)
