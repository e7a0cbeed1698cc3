"""PostgreSQL, from 9.6 on.

Isolation is left as shipped. What is changed, and why:

- `fsync`, `full_page_writes`, `synchronous_commit` off: a commit costs no disk flush. A killed server may
  lose the last fraction of a second of commits.
- `autovacuum_naptime` as long as it can be: nothing runs that a case did not ask for. (With `autovacuum` off,
  PostgreSQL 18 builds indexes without counting rows, and plans differ.)
- `max_prepared_transactions`, as PostgreSQL's own suites set it: two-phase commit can be tested.
- `deadlock_timeout=10ms`: a deadlock is noticed at once, not after a second.
- `dynamic_shared_memory_type=mmap`: a killed server leaves nothing in the machine's shared memory.
"""

import os
import re
import signal
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from acidtest.servers.base import Endpoint, Launch, Place, RunProgram
from acidtest.servers.flavours.locating import find_program

USER = "postgres"
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum_naptime": "2147483",
    "max_prepared_transactions": "10",
    "deadlock_timeout": "10ms",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",
    "listen_addresses": "127.0.0.1",
    "unix_socket_permissions": "0700",
    "logging_collector": "off",
    "log_destination": "stderr",
}
PROTOCOL = 3 << 16


class Postgres:
    dbms = "postgres"
    refuses_root = True
    stop_signal = signal.SIGINT  # a fast shutdown: open transactions are rolled back, clients are let go
    death_signal = signal.SIGQUIT  # takes the server's child processes along, as SIGKILL would not
    listens_on_tcp = True
    version_option = "--version"

    def locate(self, tree: Path) -> Mapping[str, str]:
        return {
            **find_program("server", ["postgres"], tree),
            **find_program("initdb", ["initdb"], tree),
            **find_program("client", ["psql"], tree),
        }

    def version_of(self, output: str) -> str | None:
        match = re.search(r"\(PostgreSQL\) (\d+(?:\.\d+)*)", output)
        return match[1] if match else None

    def initialise(self, launch: Launch, run: RunProgram) -> None:
        password = launch.place.temporary / "password"
        password.touch(mode=0o600)
        password.write_text(launch.password + "\n")
        if launch.place.owner is not None:
            os.chown(password, launch.place.owner, -1)
        command = [
            *launch.installation.command("initdb"),
            f"--pgdata={launch.place.data}",
            f"--username={USER}",
            "--auth-local=trust",  # the socket's directory keeps others out
            "--auth-host=md5",  # on newer releases this means SCRAM wherever the password is stored that way
            f"--pwfile={password}",
            "--encoding=UTF8",
            "--locale=C",
            "--nosync",
        ]
        run(command, "")

    def command(self, launch: Launch) -> list[str]:
        command = [*launch.installation.command("server"), "-D", str(launch.place.data)]
        command += ["-p", str(launch.port)]
        for name, value in {**SETTINGS, "unix_socket_directories": str(launch.place.folder)}.items():
            command += ["-c", f"{name}={value}"]
        return command

    def environment(self, _launch: Launch) -> dict[str, str]:
        return {}

    def lifeline(self, _place: Place) -> Path | None:
        return None

    def socket_path(self, place: Place, port: int) -> Path:
        return place.folder / f".s.PGSQL.{port}"

    def is_ready(self, connection: socket.socket) -> bool:
        """Ask for a session: a server that still starts up answers with an error, a ready one goes on."""
        body = struct.pack("!i", PROTOCOL) + f"user\0{USER}\0database\0{USER}\0\0".encode()
        connection.sendall(struct.pack("!i", len(body) + 4) + body)
        return connection.recv(1) == b"R"

    def endpoint(self, launch: Launch) -> Endpoint:
        path = self.socket_path(launch.place, launch.port)
        return Endpoint(self.dbms, str(path), "127.0.0.1", launch.port, USER, database=USER)

    def tcp_endpoint(self, launch: Launch) -> Endpoint | None:
        return Endpoint(self.dbms, None, "127.0.0.1", launch.port, USER, launch.password, USER)

    def client_names(self) -> Sequence[str]:
        return ["psql"]

    def client_arguments(self, endpoint: Endpoint) -> list[str]:
        folder = str(Path(endpoint.socket or "").parent)
        where = [f"--host={folder}", f"--port={endpoint.port}"]
        return ["--no-psqlrc", *where, f"--username={endpoint.user}", endpoint.database]
