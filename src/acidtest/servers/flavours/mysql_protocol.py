"""What all servers share that speak the MySQL protocol, whoever makes them: socket, greeting, client."""

import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from acidtest.servers.base import Endpoint, Place

GREETING_PROTOCOL = 10


class MySqlProtocol:
    """Base of the MySQL family, and of those that only speak like it."""

    dbms: str
    refuses_root = False
    stop_signal = signal.SIGTERM
    death_signal = signal.SIGKILL

    def lifeline(self, _place: Place) -> Path | None:
        return None

    def socket_path(self, place: Place, _port: int) -> Path:
        return place.folder / "sql.sock"

    def is_ready(self, connection: socket.socket) -> bool:
        """The server speaks first: a packet header of four bytes, then the number of the protocol."""
        start = connection.recv(5)
        return len(start) == 5 and start[4] == GREETING_PROTOCOL

    def client_names(self) -> Sequence[str]:
        """MariaDB's client knows the logins of all releases; MySQL's newest one dropped that of 5.6."""
        return ("mariadb", "mysql")

    def client_arguments(self, endpoint: Endpoint) -> list[str]:
        return ["--no-defaults", f"--socket={endpoint.socket}", f"--user={endpoint.user}"]
