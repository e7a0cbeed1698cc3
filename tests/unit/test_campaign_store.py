"""The store: sums, positions and findings outlive the process; what is foreign or damaged is refused."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from acidtest.campaign.plan import Cell, Chunk, Settings
from acidtest.campaign.statistics import Statistics
from acidtest.campaign.store import FILE, FINDINGS, LOCK, Listed, Store, Violation
from acidtest.errors import UsageError
from acidtest.model import Level

SETTINGS = Settings(("mariadb@10.11",), ("RC", "RR"), (), "simple", 7, mixed_levels=True, cases=1000)
CHUNK = Chunk(Cell("mariadb@10.11", (Level.READ_COMMITTED, Level.REPEATABLE_READ)), 2, 200)
VIOLATION = Violation("case-1", "mariadb@10.11", "s", "finding")
LISTED = Listed(1, "mariadb@10.11", "abc", 2.0, "001-abc")


def counted(cases: int, **undecided: int) -> Statistics:
    return Statistics(cases=cases, undecided=Counter(undecided), seconds={"judge": 0.5})


def test_what_was_stored_is_there_again(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.opened("mariadb@10.11", "10.11.19")
        store.began(CHUNK)
        store.advanced(CHUNK, 50, counted(50, why=2), 1.5)
        store.began(CHUNK)  # handed out again, it keeps its place
        store.advanced(CHUNK, 80, counted(30, why=1), 2.5)
        store.violated(VIOLATION, 2.0, LISTED)
    with Store.resume(tmp_path / "out") as store:
        assert store.settings() == SETTINGS
        assert store.elapsed_s() == 2.5
        assert store.chunks() == [Chunk(CHUNK.cell, 2, 200, position=80)]
        assert store.statistics() == Statistics(cases=80, undecided=Counter(why=3), seconds={"judge": 1.0})
        assert store.versions() == {"mariadb@10.11": "10.11.19"}
        assert store.findings() == [(1, "mariadb@10.11", tmp_path / "out" / "findings" / "001-abc")]
        assert store.violations() == [VIOLATION]
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
        store.violated(VIOLATION, 2.0, LISTED)
        store.sweep()
    assert {one.name for one in (tmp_path / "out" / "findings").iterdir()} == {"001-abc", "007-mine", "notes"}


def test_a_violation_and_its_finding_are_stored_together_or_not_at_all(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.violated(VIOLATION, 2.0, LISTED)
        with pytest.raises(UsageError, match="cannot write to"):
            store.violated(replace(VIOLATION, case="case-2"), 3.0, LISTED)  # there is one with this number
        assert store.violations() == [VIOLATION]
        assert len(store.findings()) == 1


def test_a_chunk_is_stored_whole_though_a_part_was_handed_out(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.began(replace(CHUNK, size=30))
        store.advanced(replace(CHUNK, size=30), 30, counted(30), 1.5)
        assert store.chunks() == [replace(CHUNK, position=30)]


def test_the_time_of_a_session_is_stored_at_its_end(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.ended(12.5)
    with Store.resume(tmp_path / "out") as store:
        assert store.elapsed_s() == 12.5


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE about SET value = '[]' WHERE name = 'settings'",
        "UPDATE about SET value = 'null' WHERE name = 'settings'",
        "UPDATE about SET value = '{' WHERE name = 'settings'",
        "UPDATE about SET value = json_set(value, '$.transactions', 'x') WHERE name = 'settings'",
        "UPDATE about SET value = json_set(value, '$.targets', 'x') WHERE name = 'settings'",
        "UPDATE about SET value = json_set(value, '$.colour', 'x') WHERE name = 'settings'",
        "UPDATE about SET value = replace(value, '1000', '1e999') WHERE name = 'settings'",
        "UPDATE about SET value = 'nan' WHERE name = 'elapsed_s'",
        "UPDATE about SET value = '-1' WHERE name = 'elapsed_s'",
        "DELETE FROM about WHERE name = 'elapsed_s'",
        "UPDATE chunks SET target = 'sqlite', levels = 'SER'",
        "UPDATE chunks SET levels = 'RC'",
        "UPDATE chunks SET levels = NULL",
        "UPDATE chunks SET position = 'x'",
        "UPDATE chunks SET position = 999, size = 1000",
        "UPDATE chunks SET statistics = '[3]'",
        """UPDATE chunks SET statistics = '{"undecided": 3}'""",
        """UPDATE chunks SET statistics = '{"undecided": {"why": "x"}}'""",
        """UPDATE chunks SET statistics = '{"cases": {}}'""",
        """UPDATE chunks SET statistics = '{"cases": NaN}'""",
        "UPDATE violations SET signature = NULL",
        "UPDATE findings SET folder = NULL",
        "UPDATE versions SET version = NULL",
        "DROP TABLE violations",
    ],
)
def test_what_no_campaign_can_have_written_is_refused(damage: str, tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        store.opened("mariadb@10.11", "10.11.19")
        store.began(CHUNK)
        store.violated(VIOLATION, 2.0, LISTED)
    Store.resume(tmp_path / "out").close()
    with closing(sqlite3.connect(tmp_path / "out" / FILE)) as database, database:
        database.execute(damage)
    with pytest.raises(UsageError, match="is damaged or no campaign of acidtest"):
        Store.resume(tmp_path / "out")


def test_a_file_with_damaged_pages_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path / "out", SETTINGS) as store:
        for number in range(100):
            store.violated(replace(VIOLATION, case=f"case-{number}", signature="s" * 500), 2.0)
    content = bytearray((tmp_path / "out" / FILE).read_bytes())
    content[-8192:-4096] = b"\x55" * 4096
    (tmp_path / "out" / FILE).write_bytes(content)
    with pytest.raises(UsageError, match="is damaged or no campaign of acidtest"):
        Store.resume(tmp_path / "out")


def test_what_was_made_is_removed_if_a_campaign_cannot_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: Store, settings: Settings) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "_make_tables", full)
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "new" / "deep", tmp_path / "empty"):
        with pytest.raises(UsageError, match="disk is full") as refused:
            Store.create(folder, SETTINGS)
        assert "--resume" not in str(refused.value)
    assert [one.name for one in tmp_path.iterdir()] == ["empty"]
    assert not any((tmp_path / "empty").iterdir())


def test_a_directory_that_a_kill_left_half_made_counts_as_new(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    (tmp_path / FINDINGS).mkdir()
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    Store.create(tmp_path, SETTINGS).close()
    with pytest.raises(UsageError, match="exists already"):
        Store.create(tmp_path, SETTINGS)
    Store.resume(tmp_path).close()
