"""MySQL, and what MariaDB does otherwise."""

from acidtest.evaluator.mysql.dialect import MariaDB, MySQL

__all__ = ["MariaDB", "MySQL"]
