"""Front ends of the gate: one small file per driver. Frameworks (Django, SQLAlchemy) are served by the
drivers that they use; only what belongs to their threads is theirs (`frameworks.py`)."""

from importlib import import_module
from importlib.util import find_spec

from acidtest.app.frontends.patching import Patches

FRONT_ENDS = {
    "psycopg": "psycopg3",
    "psycopg2": "psycopg2",
    "pymysql": "pymysql",
    "asyncpg": "asyncpg",
    "sqlite3": "sqlite",
}
"""The driver, and the file here that wraps it."""


def install() -> Patches:
    """Wrap every driver that the application can have; give back what undoes it."""
    patches = Patches()
    for driver, name in FRONT_ENDS.items():
        if find_spec(driver) is not None:
            import_module(f"{__name__}.{name}").patch(patches)
    return patches
