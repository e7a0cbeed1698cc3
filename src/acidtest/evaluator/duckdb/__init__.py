"""DuckDB."""

from acidtest.evaluator.duckdb.dialect import DuckDB

__all__ = ["DuckDB"]
