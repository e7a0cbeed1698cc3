"""Running real servers: reachable, private, restartable, and gone without a trace."""

import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pymysql
import pytest

from acidtest import servers
from acidtest.errors import UsageError
from acidtest.servers import RunningServer, ServerFailedError
from acidtest.servers.places import make_place, remove_place

SPECS = ("mariadb@10.11", "mysql@9.7", "mysql@5.6", "postgres@18", "seekdb@1.4", "tidb@5.4.2")
OTHERS = (
    "mariadb@10.1",
    "mariadb@10.2",
    "mariadb@10.5",
    "mariadb@11.4",
    "mariadb@11.8",
    "mysql@5.5",
    "mysql@5.7",
    "mysql@8.0.12",
    "mysql@8.0.15",
    "postgres@9.6",
    "postgres@12",
    "postgres@15",
    "postgres@16",
    "tidb@8.5.4",
)
"""Not installed for the tests, but tried where they are."""

EVERY = [pytest.param(spec, marks=pytest.mark.live(spec)) for spec in SPECS]
DURABLE = [pytest.param(spec, marks=pytest.mark.live(spec)) for spec in SPECS[:3]]


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    with servers.start(request.param) as started:
        yield started


every_server = pytest.mark.parametrize("server", EVERY, indirect=True)
postgres = pytest.mark.parametrize("server", EVERY[3:4], indirect=True)


def run_sql(server: RunningServer, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement, asked over the unix socket."""
    endpoint = server.endpoint
    assert endpoint.socket is not None
    if server.dbms == "postgres":
        folder = str(Path(endpoint.socket).parent)
        with psycopg.connect(
            host=folder, port=endpoint.port, user=endpoint.user, dbname=endpoint.database, autocommit=True
        ) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []
    connected = pymysql.connect(unix_socket=endpoint.socket, user=endpoint.user, autocommit=True)
    with connected, connected.cursor() as answers:
        for statement in statements:
            answers.execute(statement)
        return list(answers.fetchall())


def listening_addresses(pid: int) -> set[str]:
    """The addresses, as the kernel writes them, on which a process waits for connections."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # the server opens and closes files while we look
            target = os.readlink(link)
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (table.startswith("udp") or fields[3] == "0A"):
                found.add(fields[1].partition(":")[0])
    return found


def wait_for_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([descriptor], [], [], 60)
    os.close(descriptor)
    assert ended, f"process {pid} still runs"


@every_server
def test_says_the_version_it_was_installed_as(server: RunningServer) -> None:
    ((said,),) = run_sql(server, "SELECT version()")
    assert server.version.removesuffix(".0") in str(said)


@pytest.mark.parametrize("spec", OTHERS)
def test_other_release_runs_where_it_is_installed(spec: str) -> None:
    if servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed; acidtest server install {spec}")
    with servers.start(spec) as server:
        assert server.version in str(run_sql(server, "SELECT version()")[0][0])


@every_server
def test_listens_on_the_loopback_address_only(server: RunningServer) -> None:
    loopback = {"0100007F"} if server.tcp_endpoint else set()
    assert listening_addresses(server.pid) == loopback


@every_server
def test_directory_is_private_and_removed_at_stop(server: RunningServer) -> None:
    folder, pid = server.place.folder, server.pid
    assert folder.stat().st_mode & 0o777 == 0o700
    assert server.place.data.stat().st_mode & 0o077 == 0
    server.stop()
    server.stop()
    assert not server.alive()
    assert not folder.exists()
    assert not Path(f"/proc/{pid}").exists()
    assert server.log.stat().st_size > 0 or server.dbms == "seekdb"


@every_server
def test_death_is_noticed_and_restart_serves_again(server: RunningServer) -> None:
    before, path = server.pid, server.endpoint.socket
    os.kill(server.pid, signal.SIGKILL)
    wait_for_end(before)
    assert not server.alive()
    server.restart()
    assert server.alive()
    assert server.pid != before
    assert server.endpoint.socket == path
    assert run_sql(server, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("server", DURABLE, indirect=True)
def test_killed_server_keeps_what_was_committed_and_a_fresh_one_does_not(server: RunningServer) -> None:
    run_sql(server, "CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (7)")
    server.kill()
    server.restart()
    assert run_sql(server, "SELECT a FROM d.t") == [(7,)]
    server.restart(fresh=True)
    assert run_sql(server, "SHOW DATABASES LIKE 'd'") == []


@pytest.mark.live("mariadb@10.11")
def test_loopback_port_wants_the_password() -> None:
    with servers.start("mariadb@10.11") as server:
        tcp = server.tcp_endpoint
        assert tcp is not None
        pymysql.connect(host=tcp.host, port=tcp.port, user=tcp.user, password=tcp.password).close()
        for user in ("root", tcp.user, ""):
            with pytest.raises(pymysql.err.OperationalError, match=r"denied|not allowed"):
                pymysql.connect(host=tcp.host, port=tcp.port, user=user)
        assert tcp.password not in repr(tcp)


@postgres
def test_postgres_loopback_port_wants_the_password(server: RunningServer) -> None:
    tcp = server.tcp_endpoint
    assert tcp is not None
    address = {"host": tcp.host, "port": str(tcp.port), "user": tcp.user, "dbname": tcp.database}
    psycopg.connect(**address, password=tcp.password).close()  # type: ignore[arg-type]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(**address, password="guess")  # type: ignore[arg-type]


@postgres
def test_two_servers_side_by_side_do_not_meet(server: RunningServer) -> None:
    with servers.start("postgres@18") as other:
        run_sql(server, "CREATE TABLE mine (a int)")
        assert other.endpoint.port != server.endpoint.port
        assert run_sql(other, "SELECT to_regclass('mine')") == [(None,)]


@pytest.mark.live("postgres@18")
def test_port_in_use_is_refused_with_a_remedy() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is in use; choose another"):
            servers.start("postgres@18", port=port)


@pytest.mark.parametrize("spec", [EVERY[0], EVERY[2], EVERY[3]])
def test_port_taken_by_somebody_faster_is_replaced(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1], taken.getsockname()[1]]
        free.close()
        monkeypatch.setattr("acidtest.servers.running._free_port", ports.pop)
        with servers.start(spec) as server:
            assert ports == []
            assert server.endpoint.port != taken.getsockname()[1]


@postgres
def test_server_that_does_not_start_shows_its_last_words(server: RunningServer) -> None:
    server.kill()
    (server.place.data / "PG_VERSION").write_text("not a version")
    with pytest.raises(ServerFailedError, match=r"(?s)did not start.*PG_VERSION"):
        server.restart()
    assert not server.alive()


@postgres
def test_stale_socket_and_pid_file_do_not_hinder_a_restart(server: RunningServer) -> None:
    server.kill()
    assert (server.place.data / "postmaster.pid").exists()
    assert Path(server.endpoint.socket or "").exists()
    server.restart()
    assert run_sql(server, "SELECT 1") == [(1,)]


OWNER = """
import sys, signal
from acidtest import servers
server = servers.start(sys.argv[1])
print(server.pid, server.place.folder, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("spec", EVERY)
def test_nothing_survives_when_acidtest_is_killed(spec: str) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, spec], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        owner.kill()
    wait_for_end(int(pid))
    place, lock = make_place(drop_root=False)  # whoever comes next sweeps
    remove_place(place)
    os.close(lock)
    assert not Path(folder).exists()


@pytest.mark.live("postgres@18")
def test_interrupt_while_waiting_leaves_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    spawned = []

    def interrupted(self: RunningServer) -> bool:
        spawned.append((self.pid, self.place.folder))
        raise KeyboardInterrupt

    monkeypatch.setattr(RunningServer, "_wait_until_ready", interrupted)
    with pytest.raises(KeyboardInterrupt):
        servers.start("postgres@18")
    ((pid, folder),) = spawned
    assert not Path(f"/proc/{pid}").exists()
    assert not folder.exists()


@postgres
def test_server_in_use_is_not_removed(server: RunningServer) -> None:
    with pytest.raises(UsageError, match="is running; stop it first"):
        servers.remove(server.spec)
    assert servers.find_installed(server.spec) is not None
