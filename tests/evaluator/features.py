"""Random tables and writes with what generated cases have little of."""

from collections.abc import Iterator
from random import Random


def feature_cases(random: Random, dbms: str, version: str) -> Iterator[tuple[list[str], list[str]]]:
    """Endless set-ups with statements on rows."""
    raise NotImplementedError(dbms, version, random)
