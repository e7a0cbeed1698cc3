"""Statements without their values."""

import re

_VALUE = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")


def without_values(sql: str) -> str:
    """The same text for statements that differ in their values alone."""
    return _VALUE.sub("?", sql)
