"""MySQL, and what MariaDB does otherwise."""

from acidtest.evaluator.mysql.dialect import MariaDB, MySQL, TiDB

__all__ = ["MariaDB", "MySQL", "TiDB"]
