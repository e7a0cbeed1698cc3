"""The classical anomalies on real DBMSs: what occurs is what documentation and literature say."""

from collections.abc import Iterator

import pytest

from acidtest import corpus, servers
from acidtest.corpus.documented import DOCUMENTED, documented
from acidtest.corpus.levels import Observed, classify
from acidtest.execute import Executor
from acidtest.model import Level
from acidtest.targets.resolve import open_target

SERVERS = ("postgres", "mariadb@10.11", "mysql@5.6", "mysql@9.7")

# Used if it is there: from this version on MariaDB's REPEATABLE READ is snapshot isolation.
IF_INSTALLED = "mariadb@11.8"

CELLS = [
    pytest.param(
        spec,
        entry.level,
        marks=[pytest.mark.live(spec)] if spec in SERVERS else [],
        id=f"{spec}-{entry.level.short}",
    )
    for spec in ("sqlite", "duckdb", *SERVERS, IF_INSTALLED)
    for entry in DOCUMENTED
    if entry.dbms == spec.partition("@")[0] and not entry.since
]


@pytest.fixture(scope="module")
def executors() -> Iterator[dict[str, Executor]]:
    """Targets that were opened for this module, by what they were asked for."""
    opened: dict[str, Executor] = {}
    yield opened
    for executor in opened.values():
        executor.close()
        executor.target.close()


def executor_of(executors: dict[str, Executor], spec: str) -> Executor:
    if spec == "duckdb":
        pytest.importorskip("duckdb")
    if spec == IF_INSTALLED and servers.find_installed(spec) is None:
        pytest.skip(f"{spec} is not installed")
    if spec not in executors:
        executors[spec] = Executor(open_target(spec))
    return executors[spec]


@pytest.mark.parametrize(("spec", "level"), CELLS)
def test_what_occurs_is_what_documentation_says(
    spec: str, level: Level, executors: dict[str, Executor]
) -> None:
    executor = executor_of(executors, spec)
    observed = {case.id: classify(executor.run(case.at_level(level))) for case in corpus.anomalies()}
    said = documented(executor.target.dbms, executor.target.version, level)
    assert said is not None
    assert {name for name, one in observed.items() if one is Observed.OCCURS} == said.occurs
    assert Observed.UNKNOWN not in observed.values()


@pytest.mark.parametrize(
    ("spec", "level", "anomaly", "expected"),
    [
        ("sqlite", Level.SERIALIZABLE, "g0-dirty-write", Observed.ERROR),
        ("sqlite", Level.SERIALIZABLE, "p3-phantom", Observed.SNAPSHOT),
        ("duckdb", Level.SNAPSHOT, "p4-lost-update", Observed.ERROR),
        pytest.param(
            "postgres",
            Level.REPEATABLE_READ,
            "p4-lost-update",
            Observed.ERROR,
            marks=pytest.mark.live("postgres"),
        ),
        pytest.param(
            "postgres",
            Level.READ_COMMITTED,
            "g0-dirty-write",
            Observed.WAITING,
            marks=pytest.mark.live("postgres"),
        ),
        pytest.param(
            "mariadb@10.11",
            Level.SERIALIZABLE,
            "p2-fuzzy-read",
            Observed.WAITING,
            marks=pytest.mark.live("mariadb@10.11"),
        ),
        pytest.param(
            "mariadb@10.11",
            Level.SERIALIZABLE,
            "g2-item-write-skew",
            Observed.ERROR,
            marks=pytest.mark.live("mariadb@10.11"),
        ),
        pytest.param(
            "mariadb@10.11",
            Level.REPEATABLE_READ,
            "g-single-read-skew",
            Observed.SNAPSHOT,
            marks=pytest.mark.live("mariadb@10.11"),
        ),
    ],
)
def test_how_an_anomaly_is_prevented(
    spec: str, level: Level, anomaly: str, expected: Observed, executors: dict[str, Executor]
) -> None:
    case = next(case for case in corpus.anomalies() if case.id == anomaly)
    assert classify(executor_of(executors, spec).run(case.at_level(level))) is expected
