"""Case files that come with acidtest: known bugs of DBMSs and the classical anomalies.

See docs/corpus.md for what they show where, and for how to add one.
"""

import re
from functools import cache
from importlib import resources
from pathlib import Path

from acidtest.casefile import load_case
from acidtest.errors import UsageError
from acidtest.model import Case

_SUGGESTIONS_MAX = 8

# A tracker's address and the name by which people call the bug in it.
_TRACKERS = (
    (re.compile(r"jira\.mariadb\.org/browse/(MDEV-\d+)"), "{}"),
    (re.compile(r"bugs\.mysql\.com/bug\.php\?id=(\d+)"), "MYSQL-{}"),
    (re.compile(r"github\.com/pingcap/tidb/issues/(\d+)"), "TIDB-{}"),
    (re.compile(r"github\.com/duckdb/duckdb/issues/(\d+)"), "DUCKDB-{}"),
)


@cache
def bugs() -> tuple[Case, ...]:
    """The known bugs, by file name."""
    return tuple(load_case(path) for path in _paths("bugs"))


@cache
def anomalies() -> tuple[Case, ...]:
    """The classical anomalies, from those that weak levels prevent to those that only strong ones do."""
    return tuple(sorted(map(load_case, _paths("anomalies")), key=_strength))


def names(case: Case) -> tuple[str, ...]:
    """What a case may be called: its id, and the names that trackers of other DBMSs gave the same bug."""
    found = [
        form.format(match[1])
        for link in case.links
        for pattern, form in _TRACKERS
        if (match := pattern.search(link))
    ]
    return tuple(dict.fromkeys((case.id, *found)))


def find(name: str) -> Path:
    """The file of the corpus case of that name, in any letter case, with or without the file's suffix."""
    files = _by_name()
    wanted = name.casefold().removesuffix(".sql")
    if wanted in files:
        return files[wanted]
    near = sorted(known for known in files if wanted[:5] in known)[:_SUGGESTIONS_MAX]
    hint = f"; near it are {', '.join(near)}" if near else ""
    raise UsageError(f"{name!r} is neither a file nor a case of the corpus{hint}")


@cache
def _by_name() -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in (*_paths("bugs"), *_paths("anomalies")):
        for name in (path.stem, *names(load_case(path))):
            files[name.casefold()] = path
    return files


def _paths(folder: str) -> list[Path]:
    # The package is always installed as plain files, so what the resources name are paths.
    return sorted(Path(str(resources.files(__name__).joinpath(folder))).glob("*.sql"))


_ORDER = ("g0", "p1", "g1a", "g1b", "g1c", "otv", "p2", "p3", "pmp", "p4", "g-single", "g2-item", "g2")


def _strength(case: Case) -> tuple[int, str]:
    kind = max((one for one in _ORDER if case.id.startswith(one + "-")), key=len)
    return _ORDER.index(kind), case.id
