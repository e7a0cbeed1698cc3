"""Servers of other makers that speak the MySQL protocol, on a unix socket only."""

from acidtest.servers.base import Endpoint, Launch
from acidtest.servers.flavours.mysql_protocol import MySqlProtocol


class SocketOnly(MySqlProtocol):
    """root has no password here, and a port would let in every user of the machine."""

    listens_on_tcp = False

    def endpoint(self, launch: Launch) -> Endpoint:
        return Endpoint(self.dbms, str(self.socket_path(launch.place, 0)), "", 0, "root")

    def tcp_endpoint(self, _launch: Launch) -> Endpoint | None:
        return None
