"""TiDB: one tidb-server with its embedded store, from 4.0 on.

What is changed, and why:

- `lease`, `stats-lease` 0 and no automatic ANALYZE: a schema change is seen at once, and nothing runs in the
  background that a case did not ask for.
- `enable-telemetry` off: before 6.5 it reports to its vendor.
- `split-table` off: a table takes milliseconds, not a region of its own.
- `tmp-storage-path` and the store in the private directory.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from acidtest.servers.base import Launch, RunProgram
from acidtest.servers.flavours.locating import find_program
from acidtest.servers.flavours.mysql_family import at_least
from acidtest.servers.flavours.socket_only import SocketOnly

CONFIGURATION = """\
lease = "0"
split-table = false
enable-telemetry = false
tmp-storage-path = "{temporary}"

[log]
level = "error"

[performance]
stats-lease = "0"
run-auto-analyze = false
"""


class TiDb(SocketOnly):
    dbms = "tidb"
    version_option = "-V"

    def locate(self, tree: Path) -> Mapping[str, str]:
        return find_program("server", ["tidb-server"], tree)

    def version_of(self, output: str) -> str | None:
        """A release, or date and commit where it was built from one."""
        match = re.search(r"Release Version: v(\d+\.\d+\.\d+(?:-\d{14}-[0-9a-f]{12})?)", output)
        return match[1] if match else None

    def initialise(self, launch: Launch, _run: RunProgram) -> None:
        """Only the folder is needed: the server fills it itself at its first start."""
        launch.place.data.mkdir()

    def command(self, launch: Launch) -> list[str]:
        configuration = launch.place.folder / "tidb.toml"
        configuration.write_text(CONFIGURATION.format(temporary=launch.place.temporary))
        options = {
            "store": "unistore" if at_least(launch, "5.0") or _is_commit(launch) else "mocktikv",
            "path": str(launch.place.data),
            "host": "127.0.0.1",
            "P": "0",
            "socket": str(self.socket_path(launch.place, launch.port)),
            "report-status": "false",
            "config": str(configuration),
        }
        return [
            *launch.installation.command("server"),
            *(f"-{name}={value}" for name, value in options.items()),
        ]

    def environment(self, launch: Launch) -> dict[str, str]:
        return {"TMPDIR": str(launch.place.temporary)}


def _is_commit(launch: Launch) -> bool:
    """Whether it was built from a commit, whose number says nothing about its age."""
    return launch.installation.version.startswith("0.0.0-")
