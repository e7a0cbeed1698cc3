"""PostgreSQL."""

from acidtest.evaluator.postgres.dialect import PostgreSQL

__all__ = ["PostgreSQL"]
