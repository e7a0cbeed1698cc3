"""Parts of the views oracle that need no server: questions, pairs of rows, what answers may differ in."""

import pytest

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.model import Column, Index, Judgement, Row, Table
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines import questions
from acidtest.oracles.engines.pairing import are_whole, difference, new_versions, pair
from acidtest.oracles.engines.stability import (
    is_ordered_part_of,
    may_stand_for_equals,
    same_answer,
    why_unstable,
)
from acidtest.sql.rendering import delete_rows, insert_rows, literal
from acidtest.sql.shape import Shape, shape_of
from acidtest.targets.resolve import open_target

COLUMNS = (Column("id", "int", nullable=False), Column("v", "int", nullable=True))
TABLE = Table("t", COLUMNS, (Index("PRIMARY", ("id",), unique=True, primary=True),))
COUNTING = Table("t", (Column("id", "int", nullable=False, auto_increment=True), COLUMNS[1]))


def shape(sql: str, dialect: str = "mysql") -> Shape:
    found = shape_of(sql, dialect)
    assert found is not None
    return found


# -- questions


@pytest.mark.parametrize(
    ("dialect", "sql", "question"),
    [
        ("mysql", "UPDATE t SET v = 1 WHERE id > 2", "SELECT t.* FROM t WHERE id > 2"),
        ("mysql", "DELETE FROM t", "SELECT t.* FROM t"),
        ("postgres", "DELETE FROM t AS q WHERE q.id = 1", "SELECT q.* FROM t AS q WHERE q.id = 1"),
        ("mysql", "SELECT v FROM t WHERE id = 1 ORDER BY v FOR UPDATE", "SELECT * FROM t WHERE id = 1"),
        ("postgres", "UPDATE t SET v = 1 FROM u WHERE t.id = u.id", "SELECT t.* FROM t, u WHERE t.id = u.id"),
        ("postgres", "DELETE FROM t USING u WHERE t.id = u.id", "SELECT t.* FROM t, u WHERE t.id = u.id"),
        ("mysql", "UPDATE t JOIN u ON t.id = u.id SET t.v = 1", "SELECT t.* FROM t JOIN u ON t.id = u.id"),
        (
            "mysql",
            "DELETE FROM t WHERE id IN (SELECT id FROM u)",
            "SELECT t.* FROM t WHERE id IN (SELECT id FROM u)",
        ),
    ],
)
def test_a_write_becomes_a_query_for_its_rows(dialect: str, sql: str, question: str) -> None:
    assert questions.rows_of_interest(shape(sql, dialect), dialect) == question


def test_a_write_that_reads_its_own_table_is_known() -> None:
    assert questions.reads_its_target(shape("DELETE FROM t WHERE id IN (SELECT id FROM t)", "postgres"))
    assert not questions.reads_its_target(shape("DELETE FROM t WHERE id IN (SELECT id FROM u)"))
    assert not questions.reads_its_target(shape("DELETE t FROM t JOIN u ON t.id = u.id"))


@pytest.mark.parametrize(
    ("sql", "takes"),
    [
        ("INSERT INTO t (v) VALUES (1)", True),
        ("INSERT INTO t VALUES (NULL, 1)", True),
        ("INSERT INTO t VALUES (0, 1)", True),
        ("INSERT INTO t SELECT id, v FROM u", True),
        ("INSERT INTO t VALUES (7, 1)", False),
        ("INSERT INTO t (v, ID) VALUES (1, 7), (2, 8)", False),
    ],
)
def test_which_inserts_take_automatic_numbers(sql: str, takes: bool) -> None:
    assert questions.takes_numbers(shape(sql), COUNTING) is takes
    assert not questions.takes_numbers(shape(sql), TABLE)


# -- pairs


def seen(*rows: Row) -> list[Seen]:
    return [Seen(number, values) for number, values in enumerate(rows, 1)]


def test_rows_that_differ_only_in_type_are_different() -> None:
    gone, new = difference(seen((1, True)), [(1, 1)])
    assert (gone, new) == (seen((1, True)), [(1, 1)])


def test_of_equal_rows_some_that_are_gone_are_not_known_by_their_values() -> None:
    before = seen((1, 1), (1, 1), (2, 2))
    assert not are_whole(difference(before, [(1, 1), (2, 2)])[0], before)
    assert are_whole(difference(before, [(2, 2)])[0], before)


def test_unassigned_columns_tell_rows_apart() -> None:
    pairs = pair(TABLE, seen((1, 10), (2, 20)), [(2, 21), (1, 11)], {"v"})
    assert pairs == {1: (1, 11), 2: (2, 21)}


def test_exchanged_keys_leave_open_which_row_became_which() -> None:
    assert pair(TABLE, seen((1, 10), (2, 10)), [(2, 10), (1, 10)], {"id"}) is None


def test_rows_that_become_alike_are_no_riddle() -> None:
    assert pair(TABLE, seen((1, 10), (2, 10)), [(7, 10), (7, 10)], {"id"}) == {1: (7, 10), 2: (7, 10)}


def test_new_versions_include_those_that_stayed_the_same() -> None:
    before = seen((1, 10), (2, 20), (3, 30))
    assert new_versions(before[:2], before, [(1, 10), (2, 21), (3, 30)]) == [(1, 10), (2, 21)]
    assert new_versions(before[:2], before, [(1, 10), (2, 21)]) is None


# -- answers


def test_without_an_order_rows_compare_as_a_multiset() -> None:
    tree = shape("SELECT id, v FROM t").tree
    assert same_answer(tree, [(1, 1), (2, 2)], [(2, 2), (1, 1)])
    assert not same_answer(tree, [(1, 1), (2, 2)], [(1, 1)])


def test_order_by_counts_up_to_ties() -> None:
    tree = shape("SELECT id, v FROM t ORDER BY v").tree
    assert same_answer(tree, [(1, 1), (2, 1), (3, 2)], [(2, 1), (1, 1), (3, 2)])
    assert not same_answer(tree, [(1, 1), (2, 1), (3, 2)], [(3, 2), (1, 1), (2, 1)])


def test_texts_may_tie_in_their_collation() -> None:
    tree = shape("SELECT id, v FROM t ORDER BY v").tree
    assert same_answer(tree, [(1, "a"), (2, "A")], [(2, "A"), (1, "a")])


@pytest.mark.parametrize(
    ("sql", "either"),
    [
        ("SELECT a FROM t UNION SELECT a FROM t", True),
        ("SELECT DISTINCT a FROM t", True),
        ("SELECT MAX(a) FROM t", True),
        ("SELECT a FROM t", False),
    ],
)
def test_of_equal_texts_any_may_stand_for_all(sql: str, either: bool) -> None:
    tree = shape(sql).tree
    assert may_stand_for_equals(tree, [("B",)], [("b",)]) is either
    assert not may_stand_for_equals(tree, [("B",)], [("c",)])
    assert not may_stand_for_equals(tree, [("B",)], [("b",), ("B",)])


def test_limit_may_cut_among_ties_only() -> None:
    tree = shape("SELECT id, v FROM t ORDER BY v LIMIT 1").tree
    assert is_ordered_part_of(tree, [(2, 1)], [(1, 1)]) is True
    assert is_ordered_part_of(tree, [(3, 2)], [(1, 1)]) is False
    assert is_ordered_part_of(shape("SELECT * FROM t ORDER BY v LIMIT 1").tree, [(2, 1)], [(1, 1)]) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT RAND() FROM t",
        "SELECT NOW()",
        "SELECT UNIX_TIMESTAMP()",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT LAST_INSERT_ID()",
        "SELECT @x FROM t",
        "SELECT GROUP_CONCAT(v) FROM t",
        "SELECT ROW_NUMBER() OVER (ORDER BY v) FROM t",
        "SELECT id, v FROM t GROUP BY v",
        "SELECT id, MAX(v) FROM t",
        "SELECT * FROM t WHERE id IN (SELECT id FROM u LIMIT 1)",
    ],
)
def test_answers_that_may_differ_although_both_are_right(sql: str) -> None:
    assert why_unstable(shape(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t ORDER BY id LIMIT 1",
        "SELECT v, COUNT(*), MAX(id) FROM t GROUP BY v",
        "SELECT v AS w, SUM(id) FROM t GROUP BY w",
        "SELECT COUNT(*) FROM t",
        "UPDATE t SET v = v + 1 WHERE id = 1",
    ],
)
def test_answers_that_are_always_the_same(sql: str) -> None:
    assert why_unstable(shape(sql)) == ""


# -- rows as text


def test_text_and_bytes_are_written_in_the_dialect() -> None:
    assert literal("it's \\", "mysql") == "'it''s \\\\'"
    assert literal("it's \\", "postgres") == "'it''s \\'"
    assert literal(b"\x00\xff", "mysql") == "x'00ff'"
    assert literal(b"\x00\xff", "postgres") == "'\\x00ff'"


def test_generated_columns_are_not_inserted() -> None:
    table = Table("t", (COLUMNS[0], Column("g", "int", nullable=True, generated=True)))
    assert insert_rows(table, [(1, 2)], "mysql") == "INSERT INTO `t` (`id`) VALUES (1)"


def test_rows_are_deleted_by_whole_numbers_only() -> None:
    assert delete_rows(TABLE, [(1, 5)], "postgres") == 'DELETE FROM "t" WHERE ("id" = 1)'
    without_key = Table("t", COLUMNS)
    assert delete_rows(without_key, [(1, None)], "mysql") == (
        "DELETE FROM `t` WHERE (`id` = 1 AND `v` IS NULL)"
    )
    assert delete_rows(without_key, [(1, "a")], "mysql") is None


def test_what_asks_the_server_about_itself_is_unstable() -> None:
    for sql in (
        "SELECT pg_notification_queue_usage()",
        "SELECT txid_current()",
        "SELECT a FROM t WHERE pg_x(a)",
    ):
        found = shape_of(sql, "postgres")
        assert found is not None
        assert "moment or the session" in why_unstable(found)
    plain = shape_of("SELECT abs(id) FROM t", "postgres")
    assert plain is not None
    assert why_unstable(plain) == ""


# -- which rows an upsert came upon

UPSERT = """\
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ {statement};
/* tx1 */ COMMIT;
"""


def judged_by_views(spec: str, statement: str) -> Judgement:
    with open_target(spec) as target, Examiner(target, ["views"]) as examiner:
        (verdict,) = examiner.examine(parse_case(UPSERT.format(statement=statement), "x")).verdicts
    return verdict.judgement


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO t VALUES (3, 0) ON DUPLICATE KEY UPDATE v = v + 1", Judgement.VIOLATION),
        ("INSERT INTO t VALUES (3, 30) ON DUPLICATE KEY UPDATE v = v", Judgement.VIOLATION),
        ("INSERT IGNORE INTO t VALUES (4, 0), (3, 0)", Judgement.VIOLATION),
        ("INSERT IGNORE INTO t VALUES (1, 0), (4, 0)", Judgement.PASS),
        ("INSERT INTO t VALUES (2, 0) ON DUPLICATE KEY UPDATE v = v + 1", Judgement.PASS),
        ("INSERT IGNORE INTO t SELECT id + 1, v FROM t", Judgement.UNKNOWN),
    ],
)
def test_an_upsert_must_fail_over_a_row_that_its_snapshot_lacks(statement: str, expected: Judgement) -> None:
    assert judged_by_views("simulated@upsert-of-newer-row?engine=fail", statement) is expected


@pytest.mark.parametrize("key", [1, 2, 3, 4])
def test_an_upsert_that_fails_over_such_a_row_is_right(key: int) -> None:
    statement = f"INSERT INTO t VALUES ({key}, 0) ON DUPLICATE KEY UPDATE v = v + 1"
    assert judged_by_views("simulated?engine=fail", statement) is Judgement.PASS
