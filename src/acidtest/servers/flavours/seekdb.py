"""OceanBase seekdb: its embedded server, which speaks the MySQL protocol on a unix socket only."""

import re
from collections.abc import Mapping
from pathlib import Path

from acidtest.servers.base import Launch, Place, RunProgram
from acidtest.servers.flavours.locating import find_program
from acidtest.servers.flavours.socket_only import SocketOnly


class SeekDb(SocketOnly):
    dbms = "seekdb"
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
