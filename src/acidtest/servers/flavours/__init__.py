"""The kinds of servers that acidtest can run: one line for each."""

from acidtest.servers.base import Flavour
from acidtest.servers.flavours.mariadb import MariaDb
from acidtest.servers.flavours.mysql import MySql
from acidtest.servers.flavours.postgres import Postgres
from acidtest.servers.flavours.seekdb import SeekDb

FLAVOURS: dict[str, Flavour] = {flavour.dbms: flavour for flavour in (MySql(), MariaDb(), Postgres(), SeekDb())}

__all__ = ["FLAVOURS"]
