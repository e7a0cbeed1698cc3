"""MySQL, and what MariaDB does otherwise."""

from acidtest.sql.evaluate.mysql.dialect import MariaDB, MySQL

__all__ = ["MariaDB", "MySQL"]
