"""The database file of a DBMS inside this process: made, marked, locked and removed by acidtest."""

import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

from acidtest.errors import UsageError


class PrivateFile:
    """The database file: a temporary one, or one the user named that holds nothing but acidtest's work.

    Two acidtests never share a file: a lock beside it is held as long as this object is open.
    """

    def __init__(self, path: Path | None, label: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="acidtest-") if path is None else None
        self.path = Path(self._folder.name, "private.db") if self._folder else Path(path or "").absolute()
        if not self.path.parent.is_dir():
            raise UsageError(f"{label}: there is no folder {self.path.parent}; name another file")
        self._lock = FileLock(self._beside("-acidtest-lock"))
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise UsageError(f"{label}: {self.path} is in use by another acidtest") from None
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"{label}: cannot write beside {self.path}: {reason}") from None

    def exists(self) -> bool:
        """Whether there is anything at the path."""
        return self.path.exists()

    def remove(self) -> None:
        """Remove the database with its log and shared-memory files."""
        for suffix in ("", "-wal", "-shm", "-journal", ".wal"):
            self._beside(suffix).unlink(missing_ok=True)

    def release(self) -> None:
        """Let go of the path; the database itself stays unless it was temporary."""
        self._beside("-acidtest-lock").unlink(missing_ok=True)
        self._lock.release()
        if self._folder:
            self._folder.cleanup()

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)


def foreign_file(label: str, path: Path) -> UsageError:
    """The refusal of a file that acidtest did not make."""
    return UsageError(f"{label}: {path} was not made by acidtest, so it is left alone; name a new file")
