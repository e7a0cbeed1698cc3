"""Which bug of the corpus shows on which server at which level: a table, held against the real servers."""

from collections.abc import Iterator

import pytest

from acidtest import corpus, servers
from acidtest.casefile import check, load_case
from acidtest.execute import Executor
from acidtest.model import Blocked, ErrorKind, Failed, Level, Overran
from acidtest.targets.resolve import open_target

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE

SHOWS, HIDDEN, REFUSED = "shows", "does not show", "refused with error 1020"

# What `acidtest server install` offers now is installed on demand; other versions are used if they are there.
OFFERED = ("mariadb@10.11", "mysql@5.6", "mysql@9.7")

COLUMNS = ("mariadb@10.5.23", "mariadb@10.11", "mariadb@11.8", "mysql@5.6", "mysql@9.7")

# Read the columns as COLUMNS; None: not tried, or the case is not for that DBMS.
TABLE: dict[tuple[str, Level], tuple[str | None, ...]] = {
    ("MDEV-26642", RR): (SHOWS, SHOWS, REFUSED, HIDDEN, HIDDEN),
    ("MDEV-26643", RC): (SHOWS, SHOWS, HIDDEN, SHOWS, SHOWS),
    ("MDEV-27992", RC): (SHOWS, SHOWS, SHOWS, SHOWS, SHOWS),
    ("MDEV-32898", RR): (SHOWS, SHOWS, REFUSED, SHOWS, SHOWS),
    ("MDEV-33802", SER): (SHOWS, HIDDEN, HIDDEN, HIDDEN, HIDDEN),
    ("MDEV-34108", RC): (SHOWS, SHOWS, HIDDEN, SHOWS, SHOWS),
    ("MYSQL-108528", RR): (None, SHOWS, REFUSED, SHOWS, SHOWS),
    ("MYSQL-114389", RR): (None, SHOWS, REFUSED, SHOWS, SHOWS),
    ("MYSQL-93806", RR): (None, HIDDEN, HIDDEN, HIDDEN, HIDDEN),
    ("MYSQL-94338", RC): (None, HIDDEN, HIDDEN, HIDDEN, HIDDEN),
    ("MYSQL-104245", RR): (None, None, None, HIDDEN, HIDDEN),
    ("MDEV-19535", RR): (None, HIDDEN, HIDDEN, None, None),
    ("TIDB-33315", RR): (None, HIDDEN, HIDDEN, HIDDEN, HIDDEN),
}

# Levels at which a bug must stay away, on a server where it shows at another one.
ELSEWHERE: dict[tuple[str, str], tuple[Level, ...]] = {
    ("MDEV-26642", "mariadb@10.11"): (Level.READ_UNCOMMITTED, RC, SER),
    ("MDEV-26643", "mariadb@10.11"): (RR, SER),
    ("MDEV-32898", "mariadb@10.11"): (Level.READ_UNCOMMITTED, RC, SER),
    ("MDEV-34108", "mariadb@10.11"): (RR, SER),
}


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, Executor]]:
    """Servers that were started for this module, by what they were asked for."""
    started: dict[str, Executor] = {}
    yield started
    for executor in started.values():
        executor.close()
        executor.target.close()


def observe(executors: dict[str, Executor], spec: str, bug: str, level: Level) -> str:
    if spec not in executors:
        executors[spec] = Executor(open_target(spec))
    history = executors[spec].run(load_case(corpus.find(bug)).at_level(level), fresh=True)
    assert not history.server_died
    assert not any(isinstance(record.outcome, Overran | Blocked) for record in history.records)
    if check(history):
        return SHOWS
    errors = [record.outcome for record in history.records if isinstance(record.outcome, Failed)]
    return REFUSED if any(error.kind is ErrorKind.RECORD_CHANGED for error in errors) else HIDDEN


def skip_if_missing(spec: str) -> None:
    if servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed")


@pytest.mark.parametrize(
    ("bug", "level", "spec", "expected"),
    [
        pytest.param(
            bug,
            level,
            spec,
            cell,
            marks=[pytest.mark.live(spec)] if spec in OFFERED else [],
            id=f"{bug}-{spec}",
        )
        for spec in COLUMNS
        for (bug, level), row in TABLE.items()
        if (cell := row[COLUMNS.index(spec)]) is not None
    ],
)
def test_a_bug_shows_where_the_table_says(
    bug: str, level: Level, spec: str, expected: str, executors: dict[str, Executor]
) -> None:
    skip_if_missing(spec)
    assert observe(executors, spec, bug, level) == expected


@pytest.mark.parametrize(
    ("bug", "level", "spec"),
    [
        pytest.param(bug, level, spec, marks=pytest.mark.live(spec), id=f"{bug}-{spec}-{level.short}")
        for (bug, spec), levels in ELSEWHERE.items()
        for level in levels
    ],
)
def test_a_bug_stays_away_from_other_levels(
    bug: str, level: Level, spec: str, executors: dict[str, Executor]
) -> None:
    assert observe(executors, spec, bug, level) == HIDDEN
