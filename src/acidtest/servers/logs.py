"""Logs of servers: kept in the cache after the server is gone, the oldest ones removed."""

import os
import re
import tempfile
from pathlib import Path

from acidtest.servers.cache import cache_folder, explained

LOGS_MAX = 50
TAIL_LINES = 15
ERRORS_MAX = 5
TAIL_BYTES_MAX = 64_000


def new_log(name: str) -> Path:
    """An empty log file of our own in the cache."""
    folder = cache_folder("logs")
    with explained():
        by_age = sorted(folder.glob("*.log"), key=_age)
        for old in by_age[: max(0, len(by_age) - LOGS_MAX)]:
            old.unlink(missing_ok=True)
        descriptor, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".log", dir=folder)
        os.close(descriptor)
    return Path(path)


def read_end(log: Path, since: int = 0) -> list[str]:
    """The lines of a log from that byte on, not more than its last ones."""
    with log.open("rb") as stream:
        stream.seek(max(since, log.stat().st_size - TAIL_BYTES_MAX))
        return stream.read().decode(errors="replace").splitlines()


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log."""
    return "\n".join(read_end(log)[-lines:])


def last_words(log: Path, since: int = 0) -> str:
    """What a server that failed said: its first errors, and its last lines."""
    lines = read_end(log, since)
    early, late = lines[:-TAIL_LINES], lines[-TAIL_LINES:]
    errors = [line for line in early if re.search(r"\bERROR\b|\bFATAL\b|\bPANIC\b", line)][:ERRORS_MAX]
    shown = "\n".join([*errors, *(["..."] if errors else []), *late])
    return f"its last words ({log}):\n{shown}"


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # another process removed it first
        return 0.0
