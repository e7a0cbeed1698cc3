"""The per-user cache: where it is, its folders, its locks, and one sentence when it cannot be written."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from acidtest.errors import UsageError

LOCK_SECONDS_MAX = 3600
"""How long to wait for another process that installs the same; a dead one's lock is freed by the kernel."""


def cache_root() -> Path:
    """`ACIDTEST_CACHE`, else `XDG_CACHE_HOME`/acidtest, else ~/.cache/acidtest."""
    if chosen := os.environ.get("ACIDTEST_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "acidtest"


def cache_folder(*parts: str) -> Path:
    """A folder of the cache, made if need be; private, since passwords of test servers are kept in it."""
    with explained():
        cache_root().mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = cache_root().joinpath(*parts)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def scratch_folder(*parts: str) -> Path:
    """A new empty folder in that folder of the cache, to be renamed when it is complete."""
    parent = cache_folder(*parts)
    with explained():
        return Path(tempfile.mkdtemp(prefix=".partial-", dir=parent))


def remove_tree(folder: Path) -> None:
    """Delete a folder that may hold read-only folders, as Go's toolchains do; what another process still
    writes into it is left to the next sweep."""
    for path, names, _ in os.walk(folder):
        for name in names:
            if not os.path.islink(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of this name against other processes and threads."""
    folder = cache_folder("locks")
    with explained():
        lock = FileLock(folder / f"{name}.lock", timeout=LOCK_SECONDS_MAX, is_singleton=False)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def explained() -> Iterator[None]:
    """Turn a failure to write the cache into a sentence that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot write the cache {cache_root()}: {reason}; free it up or set ACIDTEST_CACHE to a folder"
            " that can be written"
        ) from error
