"""What servers of other makers have in common that speak the MySQL protocol, on a unix socket only."""

import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from acidtest.servers.base import Endpoint, Launch, Place
from acidtest.servers.flavours.mysql_family import mysql_greets


class SocketOnly:
    """root has no password here, and a port would let in every user of the machine."""

    dbms: str
    refuses_root = False
    stop_signal = signal.SIGTERM
    death_signal = signal.SIGKILL
    listens_on_tcp = False

    def lifeline(self, _place: Place) -> Path | None:
        return None

    def socket_path(self, place: Place, _port: int) -> Path:
        return place.folder / "sql.sock"

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
