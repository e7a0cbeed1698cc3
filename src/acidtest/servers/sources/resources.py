"""Whether the machine has room for something big, asked before it is begun."""

import os
import re
import shutil
from pathlib import Path

from acidtest.servers.base import InstallFailedError

GIGABYTE = 1_000_000_000
MEMORY = Path("/proc/meminfo")


def require_disk(purpose: str, folder: Path, needed_bytes: int) -> None:
    """Refuse to begin if the disk of that folder has not so much room."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise InstallFailedError(
            f"{purpose} needs about {needed_bytes / GIGABYTE:.0f} GB of disk, but only"
            f" {free / GIGABYTE:.1f} GB are free at {folder.parent}; free some, or set ACIDTEST_CACHE to a"
            " folder on another disk"
        )


def require_memory(purpose: str, needed_bytes: int) -> None:
    """Refuse to begin if there is not so much memory to be had; where nobody tells, go on."""
    free = _available_bytes()
    if free is not None and free < needed_bytes:
        raise InstallFailedError(
            f"{purpose} needs about {needed_bytes / GIGABYTE:.0f} GB of memory, but only"
            f" {free / GIGABYTE:.1f} GB are available; stop something else, or build on another machine and"
            " copy the binary to a folder of PATH"
        )


def _available_bytes() -> int | None:
    if not os.access(MEMORY, os.R_OK):
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", MEMORY.read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else None
