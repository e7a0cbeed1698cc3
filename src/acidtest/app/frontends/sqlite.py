"""sqlite3: refused. SQLite lets one writer in at a time and fails the others at once, so the faults that
show on a server do not show on it, and what it prevents says nothing about the server."""

from importlib import import_module
from typing import Any

from acidtest.app.frontends.patching import Patches
from acidtest.app.gate import WORKER
from acidtest.errors import UsageError

MODULE = "sqlite3"


def patch(patches: Patches) -> None:
    """Refuse operations that open an SQLite database; others may go on."""

    def connecting(original: Any) -> Any:
        def connect(*args: Any, **given: Any) -> Any:
            if WORKER.get() is not None:
                raise UsageError(
                    "an operation opens an SQLite database, whose locking hides most of these faults; test on"
                    " the PostgreSQL, MySQL or MariaDB that you run in production"
                )
            return original(*args, **given)

        return connect

    patches.replace(import_module(MODULE), "connect", connecting)
