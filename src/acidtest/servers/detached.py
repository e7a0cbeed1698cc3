"""Servers that the user keeps running: started by one command, found again and stopped by another."""

import json
from dataclasses import dataclass
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.servers import api
from acidtest.servers.base import Installation, Launch, Place
from acidtest.servers.cache import cache_folder, cache_root, explained
from acidtest.servers.process import ServerProcess, birth
from acidtest.servers.running import RunningServer


@dataclass(frozen=True, slots=True)
class State:
    """What has to be remembered about a detached server; kept in a file that only the user can read."""

    dbms: str
    version: str
    source: str
    root: str
    pid: int
    born: str
    folder: str
    owner: int | None
    port: int
    password: str
    log: str


def start_detached(wish: str, port: int | None = None) -> RunningServer:
    """Start a server that survives this process, and remember it."""
    server = api.start(wish, port=port, detached=True)
    try:
        _remember(server)
    except BaseException:
        server.stop()
        raise
    return server


def running() -> list[RunningServer]:
    """The detached servers that are alive; what is remembered of dead ones is forgotten."""
    found = []
    for file in sorted(cache_root().glob("run/*.json")):
        state = State(**json.loads(file.read_text()))
        server = _find(state)
        if server is not None and server.alive():
            found.append(server)
        else:
            with explained():
                file.unlink(missing_ok=True)
    return found


def find_running(wish: str) -> RunningServer | None:
    """The newest detached server that satisfies the wish."""
    spec = api.parse_spec(wish)
    matching = [server for server in running() if spec.accepts(server.dbms, server.version)]
    return matching[-1] if matching else None


def stop_detached(wish: str) -> list[RunningServer]:
    """Stop every detached server that satisfies the wish and remove its directory."""
    spec = api.parse_spec(wish)
    matching = [server for server in running() if spec.accepts(server.dbms, server.version)]
    if not matching:
        raise UsageError(f"no {spec} was started with `acidtest server start`")
    for server in matching:
        file = _file(server.pid)
        server.stop()
        file.unlink(missing_ok=True)
    return matching


def _remember(server: RunningServer) -> None:
    endpoint, tcp = server.endpoint, server.tcp_endpoint
    state = {
        "dbms": server.dbms,
        "version": server.version,
        "source": server.installation.source,
        "root": str(server.installation.root),
        "pid": server.pid,
        "born": birth(server.pid),
        "folder": str(server.place.folder),
        "owner": server.place.owner,
        "port": endpoint.port,
        "password": tcp.password if tcp else "",
        "log": str(server.log),
    }
    cache_folder("run")
    with explained():
        file = _file(server.pid)
        file.touch(mode=0o600)
        file.write_text(json.dumps(state))


def _find(state: State) -> RunningServer | None:
    process = ServerProcess.find(state.pid, state.born)
    if process is None:
        return None
    known = next(
        (one for one in api.installed() if (one.dbms, one.version, one.source) == _name(state)), None
    )
    home, parts = (known.home, known.parts) if known else (Path(state.folder), {})
    installation = Installation(*_name(state), Path(state.root), home, parts)
    place = Place(Path(state.folder), state.owner)
    return RunningServer(Launch(installation, place, state.port, state.password), process, Path(state.log))


def _name(state: State) -> tuple[str, str, str]:
    return state.dbms, state.version, state.source


def _file(pid: int) -> Path:
    return cache_root() / "run" / f"{pid}.json"
