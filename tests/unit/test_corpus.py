"""The corpus' files are well formed and can be found by every name they have."""

from pathlib import Path

import pytest

from acidtest import corpus
from acidtest.corpus.documented import DOCUMENTED, documented
from acidtest.errors import UsageError
from acidtest.model import Case, Level
from tests.quality.corpus_table import table

EVERYTHING = (*corpus.bugs(), *corpus.anomalies())


def has_expectations(case: Case) -> bool:
    return bool(case.expect_final) or any(step.statement.expect for step in case.steps)


def test_ids_and_other_names_are_unique() -> None:
    names = [name.casefold() for case in EVERYTHING for name in corpus.names(case)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", EVERYTHING, ids=lambda case: case.id)
def test_a_case_is_complete(case: Case) -> None:
    assert case.title
    assert case.links
    assert case.story
    assert has_expectations(case)
    path = corpus.find(case.id)
    assert path.name.startswith(case.id.lower())


@pytest.mark.parametrize("case", corpus.bugs(), ids=lambda case: case.id)
def test_a_bug_names_the_dbms_it_is_for(case: Case) -> None:
    known = {"mariadb", "mysql", "tidb", "duckdb", "postgres", "sqlite"}
    assert {target.dbms for target in case.targets} <= known
    assert case.targets


@pytest.mark.parametrize("case", corpus.anomalies(), ids=lambda case: case.id)
def test_an_anomaly_is_for_every_dbms_and_level(case: Case) -> None:
    assert not case.targets
    assert {transaction.level for transaction in case.transactions} == {None}
    assert case.setup == corpus.anomalies()[0].setup
    for transaction in case.transactions:
        statements = [statement.sql for statement in transaction.statements]
        assert statements[0] == "BEGIN"
        assert statements[-1] in ("COMMIT", "ROLLBACK")


def test_anomalies_come_from_weak_to_strong() -> None:
    ids = [case.id for case in corpus.anomalies()]
    assert ids[0] == "g0-dirty-write"
    assert ids.index("g1c-circular-information-flow") < ids.index("p4-lost-update")
    assert ids.index("g-single-read-skew") < ids.index("g2-item-write-skew")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("MDEV-26642", "mdev-26642-same-value-update.sql"),
        ("mdev-26642", "mdev-26642-same-value-update.sql"),
        ("TIDB-28212", "mdev-26642-same-value-update.sql"),
        ("MySQL-104833", "mdev-26643-update-skips-changed-row.sql"),
        ("MDEV-29565", "mysql-108528-update-sees-more-than-select.sql"),
        ("p4-lost-update.sql", "p4-lost-update.sql"),
        ("mysql-93806-range-lock-on-duplicate-key", "mysql-93806-range-lock-on-duplicate-key.sql"),
    ],
)
def test_a_case_is_found_by_id_other_tracker_or_file_name(name: str, file: str) -> None:
    assert corpus.find(name).name == file


def test_an_unknown_name_is_one_sentence_with_names_near_it() -> None:
    with pytest.raises(UsageError, match=r"'MDEV-26644' is neither .*mdev-26642"):
        corpus.find("MDEV-26644")


def test_documentation_speaks_of_anomalies_that_exist() -> None:
    known = {case.id for case in corpus.anomalies()}
    for entry in DOCUMENTED:
        assert entry.occurs <= known
        assert entry.why
        assert entry.link.startswith("https://")


def test_every_anomaly_but_dirty_write_occurs_somewhere() -> None:
    occurring = frozenset().union(*(entry.occurs for entry in DOCUMENTED))
    assert {case.id for case in corpus.anomalies()} - occurring == {"g0-dirty-write"}


@pytest.mark.parametrize(
    ("version", "lost"),
    [("10.11.19-MariaDB-0+deb12u1", True), ("11.6.1", True), ("11.6.2-MariaDB", False), ("11.8.3", False)],
)
def test_mariadb_prevents_lost_updates_from_11_6_2_on(version: str, lost: bool) -> None:
    entry = documented("mariadb", version, Level.REPEATABLE_READ)
    assert entry is not None
    assert ("p4-lost-update" in entry.occurs) is lost


def test_nothing_is_said_of_an_unknown_dbms() -> None:
    assert documented("tidb", "8.5.4", Level.REPEATABLE_READ) is None


def test_the_document_lists_every_bug() -> None:
    text = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text()
    assert table() in text, "python -m tests.quality.corpus_table prints the table"
