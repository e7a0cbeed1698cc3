"""The store: sums, positions and findings outlive the process; what is foreign or damaged is refused."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from acidtest.campaign.plan import Cell, Chunk, Settings
from acidtest.campaign.statistics import Statistics
from acidtest.campaign.store import FILE, Store, Violation
from acidtest.errors import UsageError
from acidtest.model import Level

SETTINGS = Settings(("mariadb@10.11",), ("RC",), (), "simple", 7, cases=1000)
CHUNK = Chunk(Cell("mariadb@10.11", (Level.READ_COMMITTED, Level.REPEATABLE_READ)), 2, 200)


def counted(cases: int, **undecided: int) -> Statistics:
    return Statistics(cases=cases, undecided=Counter(undecided), seconds={"judge": 0.5})


def test_what_was_stored_is_there_again(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.opened("mariadb@10.11", "10.11.19")
        store.began(CHUNK)
        store.advanced(CHUNK, 50, counted(50, why=2), 1.5)
        store.began(CHUNK)  # handed out again, it keeps its place
        store.advanced(CHUNK, 80, counted(30, why=1), 2.5)
        store.found(1, "mariadb@10.11", "abc", 2.0, "001-abc")
        store.violated(Violation("case-1", "mariadb@10.11", "s", "finding"), 2.0)
    with Store.resume(tmp_path / "out") as store:
        assert store.settings() == SETTINGS
        assert store.elapsed_s() == 2.5
        assert store.chunks() == [Chunk(CHUNK.cell, 2, 200, position=80)]
        assert store.statistics() == Statistics(cases=80, undecided=Counter(why=3), seconds={"judge": 1.0})
        assert store.versions() == {"mariadb@10.11": "10.11.19"}
        assert store.findings() == [(1, "mariadb@10.11", tmp_path / "out" / "findings" / "001-abc")]
        assert store.violations() == [Violation("case-1", "mariadb@10.11", "s", "finding")]
        assert store.next_number() == 2


def test_a_directory_with_something_in_it_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists already; choose another --out"):
        Store.create(tmp_path, SETTINGS)
    assert [one.name for one in tmp_path.iterdir()] == ["mine.txt"]


def test_a_directory_is_held_by_one_process(tmp_path: Path) -> None:
    with (
        Store.create(tmp_path / "out", SETTINGS),
        pytest.raises(UsageError, match="another acidtest is at work"),
    ):
        Store.resume(tmp_path / "out")
    Store.resume(tmp_path / "out").close()


def test_a_directory_without_a_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"is no campaign: it has no {FILE}"):
        Store.resume(tmp_path)


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("CREATE TABLE theirs (a INT)")
    database.close()
    with pytest.raises(UsageError, match="is damaged or no campaign of acidtest"):
        Store.resume(tmp_path)
    Path(tmp_path / FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(UsageError, match=r"cannot open|is damaged"):
        Store.resume(tmp_path)


def test_a_place_that_cannot_be_written_to_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write to .*/file/out"):
        Store.create(tmp_path / "file" / "out", SETTINGS)


def test_a_full_disk_is_told_in_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.began(CHUNK)
        store.advanced(CHUNK, 50, counted(50), 1.5)
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")
        many = Statistics(undecided=Counter({f"reason {number}" * 50: 1 for number in range(100)}))
        with pytest.raises(UsageError, match=r"cannot write to .*disk is full.*--resume"):
            store.advanced(CHUNK, 60, many, 1.5)
    with Store.resume(tmp_path / "out") as store:
        assert store.chunks()[0].position == 50


def test_a_folder_that_was_not_listed_before_the_kill_is_swept(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        for name in ("001-abc", "002-def", "007-mine"):
            (tmp_path / "out" / "findings" / name).mkdir()
            (tmp_path / "out" / "findings" / name / "finding.json").write_text("{}")
        (tmp_path / "out" / "findings" / "notes").mkdir()
        store.found(1, "mariadb@10.11", "abc", 2.0, "001-abc")
        store.sweep()
    assert {one.name for one in (tmp_path / "out" / "findings").iterdir()} == {"001-abc", "007-mine", "notes"}
