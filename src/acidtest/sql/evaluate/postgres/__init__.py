"""PostgreSQL."""

from acidtest.sql.evaluate.postgres.dialect import PostgreSQL

__all__ = ["PostgreSQL"]
