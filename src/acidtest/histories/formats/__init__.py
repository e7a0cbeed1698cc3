"""Readers of histories, one for each format; the format is told by what a file holds."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.histories.columns import Source
from acidtest.histories.formats.binary import open_cobra, open_dbcop, open_dbcop_json
from acidtest.histories.formats.jepsen import open_edn, open_json
from acidtest.histories.formats.plain_text import open_awdit, open_dbcop_text, open_plume
from acidtest.histories.formats.text import head_of

FORMATS: Mapping[str, Callable[[Path], Source]] = {
    "edn": open_edn,
    "json": open_json,
    "plume": open_plume,
    "awdit": open_awdit,
    "cobra": open_cobra,
    "dbcop": open_dbcop,
    "dbcop-json": open_dbcop_json,
    "dbcop-hist": open_dbcop_text,
}
"""By name, as `--format` takes it."""

_HEAD = 1 << 16
_COMMENT = re.compile(rb"(?:\s|;[^\n]*\n)*")
_RULES: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("dbcop-hist", re.compile(rb"(?:\s|//[^\n]*\n|-+\s*\n)*\[\w+(?::=|==)")),
    ("plume", re.compile(rb"\s*[rw]\(\s*-?\d")),
    ("awdit", re.compile(rb"(?:\s|[-=]+\s*\n)*[rw][ \t]+\S+[ \t]+\S")),
    ("dbcop-json", re.compile(rb'\s*\{.{0,65536}?"data"\s*:\s*\[', re.DOTALL)),
    ("edn", re.compile(rb"[\[(\s]*(?:#[A-Za-z][\w./-]*\s*)?\{\s*:", re.DOTALL)),
    ("json", re.compile(rb'[\[\s]*\{\s*"', re.DOTALL)),
    ("dbcop-json", re.compile(rb'\s*\[\s*\[\s*\{\s*"events"')),
    ("edn", re.compile(rb"\s*[\[(]\s*[\])]\s*\Z")),
)


def open_history(path: Path, format_name: str | None = None) -> Source:
    """Open a history; the format is found out unless it is given."""
    if not path.exists():
        raise UsageError(f"there is no {path}")
    name = format_name or recognise(path)
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; known are {', '.join(FORMATS)}")
    if path.is_dir() and name not in ("cobra", "dbcop"):
        raise UsageError(f"{path} is a folder, and {name} histories are files; name the file")
    return FORMATS[name](path)


def recognise(path: Path) -> str:
    """The format of a file or folder, by what it holds."""
    if path.is_dir():
        if any(path.glob("*.log")):
            return "cobra"
        if (path / "history.bincode").exists():
            return "dbcop"
        raise UsageError(
            f"{path} holds neither *.log files (Cobra) nor history.bincode (DBCop); name the file"
        )
    head = head_of(path, _HEAD)
    if not head.strip():
        raise UsageError(f"{path} is empty: there is no history in it")
    if b"\0" in head:
        return "cobra" if head[0] == ord("S") and len(head) > 9 and head[1] == 0 else "dbcop"
    text = head[_COMMENT.match(head).end() :]  # type: ignore[union-attr]
    for name, rule in _RULES:
        if rule.match(text):
            return name
    shown = text[:30].decode("utf-8", "replace")
    raise UsageError(
        f"{path}: {shown!r} begins no known history; --format says which of {', '.join(FORMATS)} it is"
    )
