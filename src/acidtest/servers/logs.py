"""Logs of servers: kept in the cache after the server is gone, the oldest ones removed."""

import os
import tempfile
from pathlib import Path

from acidtest.servers.cache import cache_folder, explained

LOGS_MAX = 50
TAIL_LINES = 15
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


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - TAIL_BYTES_MAX))
        text = stream.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-lines:])


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # another process removed it first
        return 0.0
