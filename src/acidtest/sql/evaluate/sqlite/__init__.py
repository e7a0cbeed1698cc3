"""SQLite."""

from acidtest.sql.evaluate.sqlite.dialect import SQLite

__all__ = ["SQLite"]
