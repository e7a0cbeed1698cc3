"""Options that several commands share."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from acidtest import corpus
from acidtest.errors import UsageError
from acidtest.model import Level
from acidtest.oracles.registry import BY_THEMSELVES, ORACLES
from acidtest.targets import Target
from acidtest.targets.resolve import check_spec, known_specs, without_password

EMBEDDED = "postgres"
"""The target that needs no installation."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def target_option(multiple: bool) -> Decorator:
    """`--target`, given once or several times."""
    return click.option(
        "-t",
        "--target",
        "targets" if multiple else "target",
        metavar="TARGET",
        multiple=multiple,
        default=(EMBEDDED,) if multiple else EMBEDDED,
        show_default=True,
        shell_complete=complete_target,
        help="DBMS to run on: NAME[@VERSION] (postgres, mariadb@10.11, mysql@9.7, sqlite, duckdb, seekdb) or "
        "the address of a server: mysql://user@host:port/, postgresql://user@host/, sqlite:///path.",
    )


def complete_target(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Specifications that can be had without asking the network."""
    return [spec for spec in known_specs() if spec.startswith(incomplete)]


def _parse_level(_context: click.Context, _param: click.Parameter, text: str | None) -> Level | str | None:
    """`all`, a level, or None for the levels as written; refused before any server is started."""
    if text is None or text.lower() == "all":
        return text and "all"
    return Level.parse(text)


def _complete_level(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in ("all", *(level.short for level in Level)) if name.startswith(incomplete)]


level_option: Decorator = click.option(
    "-l",
    "--level",
    metavar="LEVEL",
    callback=_parse_level,
    shell_complete=_complete_level,
    help="RU, RC, RR, SI, SER (or the full name), or `all` that the target has.  [default: as written]",
)


def _oracle_option(default: tuple[str, ...]) -> Decorator:
    return click.option(
        "--oracle",
        "oracles",
        metavar="ORACLE",
        multiple=True,
        default=default,
        show_default=True,
        shell_complete=lambda _context, _param, incomplete: [
            name for name in (*ORACLES, "none") if name.startswith(incomplete)
        ],
        help="Judge with this oracle (may be repeated), or `none`.",
    )


oracle_option = _oracle_option(BY_THEMSELVES)
every_oracle_option = _oracle_option(tuple(ORACLES))
"""For commands that have something to compare with by themselves."""


against_option: Decorator = click.option(
    "--against",
    metavar="TARGET",
    multiple=True,
    shell_complete=complete_target,
    help="Run each case on this DBMS or version, too, and compare (the oracle `differential`).",
)


def chosen_against(against: Sequence[str], targets: Iterable[str]) -> str | None:
    """The one target to compare with, if there is one; not one of those that are tested."""
    if len(against) > 1:
        names = ", ".join(map(without_password, against))
        raise UsageError(f"--against names one target to compare with, not {len(against)} ({names})")
    for spec in against:
        check_spec(spec)
        if spec in targets:
            raise UsageError(
                f"--against {without_password(spec)} is a target itself; name another DBMS or version"
            )
        return spec
    return None


def chosen_levels(choice: Level | str | None, target: Target) -> tuple[Level | None, ...]:
    """The levels to run at on this target; None stands for `as written`."""
    if choice == "all":
        return target.levels
    if choice is None:
        return (None,)
    level = Level(choice)
    target.check_levels([level])
    return (level,)


def case_file(name: str) -> Path:
    """The file that a CASE argument means: a path, or the id of a corpus case."""
    path = Path(name)
    return path if path.exists() else corpus.find(name)
