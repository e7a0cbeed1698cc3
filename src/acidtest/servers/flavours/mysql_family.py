"""What the servers of the MySQL family share: options and accounts.

Options that decide about isolation are left as each release ships them. What is changed, and why:

- `innodb_flush_log_at_trx_commit=2`, `innodb_doublewrite=OFF`, `sync_binlog=0`, no binary log: a commit
  costs no disk flush. A killed *server* loses nothing that was committed; a power cut may. The option
  `log_bin=on` starts it with a binary log, as MySQL from 8.0 on is released: some bugs show only then.
- small buffer pool and logs: the data directory is copied for every start.
- `skip-name-resolve`: no name server is asked; accounts of `localhost` are reached over the socket only.
- `secure-file-priv`: SQL reads and writes files in the server's own temporary folder only.
- `innodb-fast-shutdown=2`: a stop does not write back pages of a data directory that is then removed; a
  restart recovers them from the log.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from acidtest.servers.base import Endpoint, Launch, RunProgram
from acidtest.servers.flavours.locating import find_folder, find_program
from acidtest.servers.flavours.mysql_protocol import MySqlProtocol
from acidtest.servers.specs import version_key

TCP_USER = "acidtest"


class MySqlFamily(MySqlProtocol):
    """Base of the flavours `mysql` and `mariadb`."""

    server_names: Sequence[str]
    client_program_names: Sequence[str]
    listens_on_tcp = True
    version_option = "--version"

    def locate(self, tree: Path) -> Mapping[str, str]:
        return {
            **find_program("server", self.server_names, tree),
            **find_program("client", self.client_program_names, tree),
            **find_folder("share", "english/errmsg.sys", tree, levels_up=2),
            **find_folder("charsets", "Index.xml", tree),
            **find_folder("plugins", "plugin/*.so", tree),
        }

    def version_of(self, output: str) -> str | None:
        match = re.search(r"Ver (\d+\.\d+\.\d+)", output)
        return match[1] if match and ("MariaDB" in output) == (self.dbms == "mariadb") else None

    def bootstrap(self, launch: Launch, run: RunProgram, scripts: Sequence[str], extra_sql: str) -> None:
        """Make the system tables the old way: the server reads its own scripts."""
        share = launch.installation.path("share")
        texts = ["CREATE DATABASE IF NOT EXISTS mysql;", "USE mysql;"]
        for name in scripts:
            if (share / name).is_file():
                texts.append((share / name).read_text("utf-8", errors="replace"))
        texts.append(extra_sql)
        launch.place.data.mkdir(exist_ok=True)
        # accounts for the name of the machine would need a name lookup, and must not exist anyway
        lines = [line for text in texts for line in text.splitlines() if "@current_hostname" not in line]
        run([*self.common_options(launch), "--bootstrap", "--skip-networking"], "\n".join(lines) + "\n")

    def common_options(self, launch: Launch) -> list[str]:
        """The part of the command that initialising and serving share."""
        installation, place = launch.installation, launch.place
        options = [
            *installation.command("server"),
            "--no-defaults",
            "--user=root",  # has an effect only when we are root
            f"--basedir={installation.root}",
            f"--datadir={place.data}",
            f"--tmpdir={place.temporary}",
            f"--lc-messages-dir={installation.path('share')}",
            f"--character-sets-dir={installation.path('charsets')}",
            f"--secure-file-priv={place.temporary}",
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-doublewrite=0",
            "--innodb-buffer-pool-size=64M",
        ]
        if "plugins" in installation.parts:
            options.append(f"--plugin-dir={installation.path('plugins')}")
        return options + self.version_options(launch)

    def binary_log(self, launch: Launch, is_default: bool) -> list[str]:
        """What turns the binary log on or off, given how the release has it."""
        if launch.options.get("log_bin") == "on":
            return ["--log-bin=binlog", "--server-id=1"]
        return ["--skip-log-bin"] if is_default else []

    def version_options(self, launch: Launch) -> list[str]:
        """What only some releases of the DBMS need or know."""
        raise NotImplementedError

    def accounts_sql(self, launch: Launch) -> str:
        """Makes the account for the loopback port; run at every start, so it must bear repetition."""
        raise NotImplementedError

    def command(self, launch: Launch) -> list[str]:
        startup = launch.place.folder / "startup.sql"
        startup.touch(mode=0o600)
        startup.write_text(self.accounts_sql(launch))
        return [
            *self.common_options(launch),
            f"--socket={self.socket_path(launch.place, launch.port)}",
            f"--pid-file={launch.place.folder / 'server.pid'}",
            f"--init-file={startup}",
            "--bind-address=127.0.0.1",
            f"--port={launch.port}",
            "--skip-name-resolve",
            "--max-connections=200",
            "--sync-binlog=0",
            "--loose-innodb-status-output-locks=ON",  # MySQL before 5.6.16 has no such variable,
            "--innodb-fast-shutdown=2",
        ]

    def environment(self, launch: Launch) -> dict[str, str]:
        return {"TMPDIR": str(launch.place.temporary)}

    def endpoint(self, launch: Launch) -> Endpoint:
        path = self.socket_path(launch.place, launch.port)
        return Endpoint(self.dbms, str(path), "127.0.0.1", launch.port, "root")

    def tcp_endpoint(self, launch: Launch) -> Endpoint | None:
        return Endpoint(self.dbms, None, "127.0.0.1", launch.port, TCP_USER, launch.password)


def at_least(launch: Launch, version: str) -> bool:
    """Whether the launched server is that version or newer."""
    wanted = version_key(version + ".0" * (3 - version.count(".")))
    return version_key(launch.installation.version + ".0") >= wanted
