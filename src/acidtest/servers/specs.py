"""Server specifications `NAME[@VERSION]`, versions in order, and which version satisfies which wish."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from acidtest.errors import UsageError

ALIASES = {"postgresql": "postgres"}
NEWEST = 1 << 30
"""Stands for the missing parts of a series, which means the newest of it."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What the user asked for; no version means the newest."""

    dbms: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.dbms}@{self.version}" if self.version else self.dbms

    def accepts(self, dbms: str, version: str) -> bool:
        """Whether this exact version is what was asked for: `mysql@9` accepts 9.7.4."""
        return self.dbms == dbms and is_prefix(self.version, version)

    def may_accept(self, dbms: str, version: str) -> bool:
        """Like `accepts`, where `version` may be a series: `mariadb@10.11.19` may be had from `10.11`."""
        return self.accepts(dbms, version) or (self.dbms == dbms and is_prefix(version, self.version))


def parse_spec(text: str, known: Iterable[str] = ()) -> Spec:
    """`NAME[@VERSION]`, with NAME among the known ones (if any are given)."""
    name, at, version = text.strip().partition("@")
    name = ALIASES.get(name.lower(), name.lower())
    names = sorted(known)
    if names and name not in names:
        raise UsageError(f"unknown server {name!r} in {text!r}; acidtest knows: {', '.join(names)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*", name) or (at and not re.fullmatch(r"\d+(\.\d+)*", version)):
        raise UsageError(f"malformed server {text!r}; expected NAME or NAME@VERSION, such as mariadb@10.11")
    return Spec(name, version)


def version_key(version: str) -> tuple[int, ...]:
    """Orders versions; a series comes after every release of it."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:4])
    return numbers + (NEWEST,) * (4 - len(numbers))


def is_prefix(prefix: str, version: str) -> bool:
    """Whether `version` is in the series `prefix`; everything is in the empty series."""
    if not prefix:
        return True
    parts = prefix.split(".")
    return version.split(".")[: len(parts)] == parts


def nearest_first(wanted: str, versions: Iterable[str]) -> list[str]:
    """Versions by their distance from the wanted one: the same major first, then the closest number."""
    wish = version_key(wanted) if wanted else version_key(str(NEWEST))

    def distance(version: str) -> tuple[int, ...]:
        return tuple(abs(a - b) for a, b in zip(version_key(version), wish, strict=True))

    return sorted(set(versions), key=distance)
