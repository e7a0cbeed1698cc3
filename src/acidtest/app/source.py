"""Which line of the application a statement came from."""

import linecache
import sys
from functools import lru_cache
from pathlib import Path
from types import FrameType

from acidtest.model.application import SourceLine

PLUMBING = (
    "acidtest.app",
    "asgiref",
    "asyncio",
    "asyncpg",
    "concurrent",
    "contextlib",
    "contextvars",
    "django.core.handlers",
    "django.db",
    "django.utils",
    "functools",
    "greenlet",
    "MySQLdb",
    "psycopg",
    "psycopg2",
    "psycopg_pool",
    "pymysql",
    "sqlalchemy",
    "sqlite3",
    "threading",
)
"""Packages between an application and its database; a statement is never *their* idea."""


def source_line() -> SourceLine | None:
    """The innermost frame that is not plumbing."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not _is_plumbing(frame.f_globals.get("__name__", "")):
            return _line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


@lru_cache(maxsize=4096)
def _is_plumbing(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in PLUMBING)


@lru_cache(maxsize=4096)
def _line(file: str, line: int, function: str) -> SourceLine:
    return SourceLine(_short(file), line, function, linecache.getline(file, line).strip())


def _short(file: str) -> str:
    """A path as the user would write it: from here, or from where packages are installed."""
    path = Path(file)
    for base in (Path.cwd(), *(Path(entry) for entry in sys.path if entry)):
        if path.is_relative_to(base):
            return str(path.relative_to(base))
    return file
