"""OceanBase seekdb: its embedded server, which speaks the MySQL protocol on a unix socket only."""

import re
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from acidtest.servers.base import Endpoint, Launch, Place, RunProgram
from acidtest.servers.flavours.locating import find_program
from acidtest.servers.flavours.mysql_family import mysql_greets


class SeekDb:
    dbms = "seekdb"
    refuses_root = False
    stop_signal = signal.SIGTERM
    death_signal = signal.SIGKILL
    listens_on_tcp = False
    version_option = "--version"

    def locate(self, tree: Path) -> Mapping[str, str]:
        return find_program("server", ["seekdb"], tree)

    def version_of(self, output: str) -> str | None:
        match = re.search(r"seekdb (\d+(?:\.\d+)*)", output)
        return match[1] if match else None

    def initialise(self, _launch: Launch, _run: RunProgram) -> None:
        """Nothing to do: the server fills an empty directory itself at its first start."""

    def command(self, launch: Launch) -> list[str]:
        return [
            *launch.installation.command("server"),
            f"--base-dir={launch.place.data}",
            "--embedded",
            "--nodaemon",
            "--parameter",
            "memory_budget=1G",
            "--parameter",
            "log_disk_size=2G",
        ]

    def environment(self, _launch: Launch) -> dict[str, str]:
        # by default it reports the machine to its vendor; "false" stops that, "0" does not (seen with strace)
        return {"TELEMETRY_ENABLED": "false"}

    def lifeline(self, place: Place) -> Path | None:
        """The embedded server leaves when nobody holds a lock on its list of clients."""
        return place.data / "run" / "seekdb.clients"

    def socket_path(self, place: Place, _port: int) -> Path:
        return place.data / "run" / "sql.sock"

    def is_ready(self, connection: socket.socket) -> bool:
        return mysql_greets(connection)

    def endpoint(self, launch: Launch) -> Endpoint:
        return Endpoint(self.dbms, str(self.socket_path(launch.place, 0)), "", 0, "root")

    def tcp_endpoint(self, _launch: Launch) -> Endpoint | None:
        return None

    def client_names(self) -> Sequence[str]:
        return ["mariadb", "mysql"]

    def client_arguments(self, endpoint: Endpoint) -> list[str]:
        return ["--no-defaults", f"--socket={endpoint.socket}", f"--user={endpoint.user}"]
