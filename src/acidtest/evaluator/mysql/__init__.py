"""MySQL, and what MariaDB and TiDB do otherwise."""

from acidtest.evaluator.mysql.dialect import MariaDB, MySQL
from acidtest.evaluator.mysql.tidb import TiDB

__all__ = ["MariaDB", "MySQL", "TiDB"]
