"""Private directories of running servers, and the sweep of those whose server and owner are gone.

Every directory has a lock file on which a lock is held by the process that made it *and*, by inheritance,
by the server that runs in it. So the kernel frees the lock exactly when both are gone, however they ended,
and no process id can be mistaken for another. The socket lies in here too, hence the short names: a socket's
path may have 107 characters only.
"""

import fcntl
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acidtest.errors import UsageError
from acidtest.servers.base import Place

LOCK_NAME = "lock"
BASE_CHARACTERS_MAX = 60
"""Leaves room for the longest socket name below the base folder."""


def make_place(drop_root: bool) -> tuple[Place, int]:
    """A new private directory and the descriptor of its lock, after sweeping what dead processes left."""
    base = _base_folder()
    owner = _nobody() if drop_root and os.geteuid() == 0 else None
    with _base_locked(base):
        _sweep(base)
        folder = Path(tempfile.mkdtemp(prefix="", dir=base))
        lock = os.open(folder / LOCK_NAME, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    place = Place(folder, owner)
    place.temporary.mkdir(mode=0o700)
    if owner is not None:
        os.chown(place.temporary, owner, -1)
        os.chown(folder, owner, -1)
    return place, lock


def remove_place(place: Place) -> None:
    """Remove the directory with all that is in it."""
    shutil.rmtree(place.folder, ignore_errors=True)


def _sweep(base: Path) -> None:
    for folder in base.iterdir():
        if folder.is_dir() and not _is_held(folder / LOCK_NAME):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(lock_file: Path) -> bool:
    try:
        descriptor = os.open(lock_file, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _base_folder() -> Path:
    """The user's folder below the system's temporary one: others may pass through it but not look into it."""
    parent = tempfile.gettempdir()
    if len(parent) > BASE_CHARACTERS_MAX - len("/acidtest-4294967295"):
        parent = "/tmp"
    base = Path(parent) / f"acidtest-{os.geteuid()}"
    try:
        base.mkdir()
        base.chmod(0o711)
    except FileExistsError:
        pass
    state = base.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o022:
        raise UsageError(
            f"{base} is not a private directory of yours; remove it, or set TMPDIR to another one"
        )
    return base


@contextmanager
def _base_locked(base: Path) -> Iterator[None]:
    """Making a directory and sweeping exclude each other: a directory without a held lock is a dead one."""
    descriptor = os.open(base / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _nobody() -> int:
    return pwd.getpwnam("nobody").pw_uid
