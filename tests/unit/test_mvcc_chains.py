"""Version chains: what views show of them, and that whatever is taken back leaves no trace."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from acidtest.model import Row
from acidtest.oracles.chains import INITIAL, Chains, Seen, Version, Visible

ANN, BOB = 1, 2
"""Transactions."""


def two_rows() -> Chains:
    return Chains.of({"t": [("a", 1), ("b", 2)], "u": []})


def everything(_version: Version) -> bool:
    return True


def committed(chains: Chains, own: int | None = None) -> Visible:
    return lambda version: version.writer == own or chains.is_committed(version.writer)


def snapshot(chains: Chains, moment: int) -> Visible:
    return lambda version: chains.committed_by(version.writer, moment)


def values(seen: list[Seen]) -> list[Row]:
    return [one.values for one in seen]


# -- views


def test_the_first_rows_are_committed_by_the_set_up_before_all_moments() -> None:
    chains = two_rows()
    assert values(chains.view("t", snapshot(chains, 0))) == [("a", 1), ("b", 2)]
    assert chains.view("u", everything) == []
    assert {one.writer for _, versions in chains.rows("t") for one in versions} == {INITIAL}
    assert list(chains.tables()) == ["t", "u"]


def test_a_dirty_version_is_seen_by_those_who_see_all_and_by_its_writer_alone() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    assert values(chains.view("t", everything)) == [("a", 10), ("b", 2)]
    assert values(chains.view("t", committed(chains, ANN))) == [("a", 10), ("b", 2)]
    assert values(chains.view("t", committed(chains, BOB))) == [("a", 1), ("b", 2)]


def test_a_snapshot_does_not_see_what_is_committed_later() -> None:
    chains = two_rows()
    before = chains.clock
    chains.write("t", 1, ("a", 10), ANN, 0)
    chains.commit(ANN)
    assert values(chains.view("t", snapshot(chains, before))) == [("a", 1), ("b", 2)]
    assert values(chains.view("t", snapshot(chains, chains.clock))) == [("a", 10), ("b", 2)]
    assert not chains.committed_by(ANN, before)
    assert chains.committed_by(ANN, chains.clock)
    assert not chains.committed_by(BOB, chains.clock)


def test_of_several_versions_of_one_writer_the_last_is_seen() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    chains.write("t", 1, ("a", 11), ANN, 1)
    chains.commit(ANN)
    assert values(chains.view("t", committed(chains))) == [("a", 11), ("b", 2)]
    assert [one.step for one in chains.versions("t", 1)] == [None, 0, 1]


def test_a_tombstone_hides_its_row_from_those_who_see_it_only() -> None:
    chains = two_rows()
    before = chains.clock
    chains.write("t", 2, None, ANN, 0)
    assert chains.newest("t", 2).deleted
    assert values(chains.view("t", committed(chains, ANN))) == [("a", 1)]
    assert values(chains.view("t", committed(chains, BOB))) == [("a", 1), ("b", 2)]
    chains.commit(ANN)
    assert values(chains.view("t", snapshot(chains, before))) == [("a", 1), ("b", 2)]
    assert values(chains.view("t", snapshot(chains, chains.clock))) == [("a", 1)]


def test_an_inserted_row_is_one_of_its_own_and_not_there_for_older_snapshots() -> None:
    chains = two_rows()
    row = chains.insert("t", ("a", 1), ANN, 0)
    assert row not in (1, 2)
    chains.commit(ANN)
    assert values(chains.view("t", snapshot(chains, 0))) == [("a", 1), ("b", 2)]
    assert chains.view("t", committed(chains)) == [Seen(1, ("a", 1)), Seen(2, ("b", 2)), Seen(row, ("a", 1))]


# -- undo


def test_a_rolled_back_transaction_leaves_what_others_committed() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    chains.write("t", 2, ("b", 20), BOB, 1)
    chains.insert("u", ("c", 3), ANN, 2)
    chains.commit(BOB)
    chains.undo(ANN)
    assert values(chains.view("t", everything)) == [("a", 1), ("b", 20)]
    assert list(chains.rows("u")) == []
    assert not chains.is_committed(ANN)


def test_going_back_to_a_savepoint_keeps_what_was_written_before_it() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    first = chains.mark(ANN)
    chains.write("t", 1, ("a", 11), ANN, 1)
    second = chains.mark(ANN)
    chains.write("t", 1, None, ANN, 2)
    chains.insert("t", ("c", 3), ANN, 2)
    chains.undo(ANN, second)
    assert values(chains.view("t", everything)) == [("a", 11), ("b", 2)]
    chains.undo(ANN, first)
    assert values(chains.view("t", everything)) == [("a", 10), ("b", 2)]
    assert chains.mark(ANN) == first


def test_a_mark_is_the_transactions_own() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    assert chains.mark(BOB) == 0
    chains.write("t", 2, ("b", 20), BOB, 1)
    chains.undo(BOB, 0)
    assert values(chains.view("t", everything)) == [("a", 10), ("b", 2)]


def test_a_statement_that_fails_half_way_is_undone_to_its_start() -> None:
    chains = two_rows()
    start = chains.mark(ANN)
    chains.write("t", 1, ("a", 2), ANN, 0)
    chains.write("t", 2, ("b", 3), ANN, 0)
    chains.undo(ANN, start)
    assert [len(versions) for _, versions in chains.rows("t")] == [1, 1]


# -- two writers of one row, which optimistic engines allow


def test_the_order_of_commits_decides_which_version_is_the_newest() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    chains.write("t", 1, ("a", 20), BOB, 1)
    chains.commit(BOB)
    chains.commit(ANN)
    assert values(chains.view("t", committed(chains))) == [("a", 10), ("b", 2)]
    assert [one.writer for one in chains.versions("t", 1)] == [INITIAL, BOB, ANN]


def test_a_rollback_takes_its_version_out_of_the_middle() -> None:
    chains = two_rows()
    chains.write("t", 1, ("a", 10), ANN, 0)
    chains.write("t", 1, ("a", 20), BOB, 1)
    chains.undo(ANN)
    chains.commit(BOB)
    assert [one.writer for one in chains.versions("t", 1)] == [INITIAL, BOB]


# -- property


@dataclass(frozen=True)
class Write:
    """What to write: to one of the rows there are (counted round), or to a new one if there are none."""

    table: str
    which: int
    values: Row | None
    insert: bool


WRITES = st.builds(
    Write,
    table=st.sampled_from(["t", "u"]),
    which=st.integers(0, 7),
    values=st.none() | st.tuples(st.sampled_from("abc"), st.integers(0, 3)),
    insert=st.booleans(),
)


def apply(chains: Chains, write: Write, writer: int, step: int) -> None:
    rows = [row for row, _ in chains.rows(write.table)]
    if rows and not (write.insert and write.values is not None):
        chains.write(write.table, rows[write.which % len(rows)], write.values, writer, step)
    elif write.values is not None:
        chains.insert(write.table, write.values, writer, step)


def contents(chains: Chains, but_for: int | None = None) -> dict[str, dict[int, list[Version]]]:
    """All versions, those of one writer left out, and rows that then have none."""
    return {
        table: {
            row: kept
            for row, versions in chains.rows(table)
            if (kept := [one for one in versions if one.writer != but_for])
        }
        for table in chains.tables()
    }


@given(before=st.lists(WRITES), after=st.lists(WRITES, min_size=1))
def test_undo_after_any_writes_gives_the_state_before(before: list[Write], after: list[Write]) -> None:
    chains = two_rows()
    for step, write in enumerate(before):
        apply(chains, write, ANN, step)
    mark, then = chains.mark(ANN), contents(chains)
    for step, write in enumerate(after):
        apply(chains, write, ANN, len(before) + step)
    chains.undo(ANN, mark)
    assert contents(chains) == then
    chains.undo(ANN)
    assert contents(chains) == contents(two_rows())


@given(writes=st.lists(st.tuples(st.sampled_from([ANN, BOB]), WRITES)), bob_commits=st.booleans())
def test_undo_takes_back_the_own_writes_among_those_of_others(
    writes: list[tuple[int, Write]], bob_commits: bool
) -> None:
    chains = two_rows()
    for step, (writer, write) in enumerate(writes):
        apply(chains, write, writer, step)
    if bob_commits:
        chains.commit(BOB)
    without_ann = contents(chains, but_for=ANN)
    chains.undo(ANN)
    assert contents(chains) == without_ann
