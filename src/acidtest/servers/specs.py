"""Server specifications `NAME[@VERSION]`, versions in order, and which version satisfies which wish.

A VERSION is a release or a series (`9.7.4`, `9`), all of them (`*`), a range (`>=8 <9`), or, where a source
builds from a repository, a commit (`e4e814fdc0af`) or a pseudo-version that ends with one.
"""

import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass

from acidtest.errors import UsageError

ALIASES = {"postgresql": "postgres"}
ALL = "*"
NEWEST = 1 << 30
"""Stands for the missing parts of a series, which means the newest of it."""

NUMBER = re.compile(r"\d+(\.\d+)*")
BOUND = re.compile(r"(>=|<=|>|<)\s*(\d+(?:\.\d+)*)")
RANGE = re.compile(rf"{BOUND.pattern}(?:[\s,]*{BOUND.pattern})*")
COMMIT = re.compile(r"(?:v?\d[\w.+-]*-)?(?=[0-9a-f]*[a-f]|[0-9a-f]{12,40}$)([0-9a-f]{7,40})")
COMMIT_DIGITS = 12
"""How many digits of a commit a pseudo-version has."""

FORM = "expected NAME or NAME@VERSION, such as mariadb@10.11, 'mariadb@*' or 'mysql@>=8 <9'"
HOLDS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True, slots=True)
class Spec:
    """What the user asked for; no version means the newest."""

    dbms: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.dbms}@{self.version}" if self.version else self.dbms

    @property
    def means_several(self) -> bool:
        """Whether everything that fits is meant, and not the newest of it."""
        return self.version == ALL or RANGE.fullmatch(self.version) is not None

    def accepts(self, dbms: str, version: str) -> bool:
        """Whether this exact version is what was asked for: `mysql@9` accepts 9.7.4."""
        if self.dbms != dbms:
            return False
        if self.means_several:
            return all(_holds(version, sign, limit) for sign, limit in BOUND.findall(self.version))
        if commit := commit_of(self.version):
            return (commit_of(version) or "").startswith(commit)
        return is_prefix(self.version, version)

    def may_accept(self, dbms: str, version: str) -> bool:
        """Like `accepts`, where `version` may be a series: `mariadb@10.11.19` may be had from `10.11`."""
        return self.accepts(dbms, version) or (self.dbms == dbms and is_prefix(version, self.version))


def parse_spec(text: str, known: Iterable[str] = ()) -> Spec:
    """`NAME[@VERSION]`, with NAME among the known ones (if any are given)."""
    name, at, version = text.strip().partition("@")
    name, version = ALIASES.get(name.lower(), name.lower()), version.strip()
    names = sorted(known)
    if names and name not in names:
        raise UsageError(f"unknown server {name!r} in {text!r}; acidtest knows: {', '.join(names)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*", name) or (at and not _is_version(version)):
        raise UsageError(f"malformed server {text!r}; {FORM}")
    return Spec(name, version)


def commit_of(version: str) -> str | None:
    """The commit, as far as pseudo-versions tell it, that a version names; None for a release or a range."""
    match = COMMIT.fullmatch(version)
    return match[1][:COMMIT_DIGITS] if match else None


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
    named = NUMBER.search(wanted)
    wish = version_key(named[0] if named else str(NEWEST))

    def distance(version: str) -> tuple[int, ...]:
        return tuple(abs(a - b) for a, b in zip(version_key(version), wish, strict=True))

    return sorted(set(versions), key=distance)


def _is_version(text: str) -> bool:
    return bool(NUMBER.fullmatch(text) or Spec("", text).means_several or commit_of(text))


def _holds(version: str, sign: str, limit: str) -> bool:
    """A limit is a series: `<9` ends before 9.0, `<=9` after the last 9, `>=9` begins at 9.0."""
    whole_series = version_key(limit)
    beginning = tuple(0 if part == NEWEST else part for part in whole_series)
    return bool(HOLDS[sign](version_key(version), whole_series if sign in {"<=", ">"} else beginning))
