"""SQLite."""

from acidtest.evaluator.sqlite.dialect import SQLite

__all__ = ["SQLite"]
