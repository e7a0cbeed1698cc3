"""What frameworks keep per thread, and what they do around a test."""

import sys
from typing import Any

from acidtest.errors import UsageError


def check_surroundings() -> None:
    """Refuse what would hide everything: data that the test has not committed."""
    for alias, connection in _django_connections():
        if connection.connection is not None and connection.in_atomic_block:
            raise UsageError(
                f"the test runs in a transaction of its own on {alias!r}, so operations would not see its"
                " rows; mark it with django_db(transaction=True), or use TransactionTestCase"
            )


def close_connections() -> None:
    """Close what belongs to the running thread."""
    for _, connection in _django_connections():
        connection.close()


def _django_connections() -> list[tuple[str, Any]]:
    django = sys.modules.get("django.db")
    if django is None or not sys.modules["django.conf"].settings.configured:
        return []
    return [(one.alias, one) for one in django.connections.all(initialized_only=True)]
