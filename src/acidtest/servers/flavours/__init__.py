"""The kinds of servers that acidtest can run: one line for each."""

from acidtest.servers.base import Flavour
from acidtest.servers.flavours.mariadb import MariaDb
from acidtest.servers.flavours.mysql import MySql
from acidtest.servers.flavours.postgres import Postgres
from acidtest.servers.flavours.seekdb import SeekDb
from acidtest.servers.flavours.tidb import TiDb

_ALL: tuple[Flavour, ...] = (MySql(), MariaDb(), Postgres(), SeekDb(), TiDb())
FLAVOURS = {flavour.dbms: flavour for flavour in _ALL}

__all__ = ["FLAVOURS"]
