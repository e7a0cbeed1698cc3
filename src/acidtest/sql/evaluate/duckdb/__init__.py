"""DuckDB."""

from acidtest.sql.evaluate.duckdb.dialect import DuckDB

__all__ = ["DuckDB"]
