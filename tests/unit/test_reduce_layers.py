"""What each layer takes away, shown on one case each with a predicate written as a plain function."""

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from acidtest.casefile import parse_case, print_case
from acidtest.model import Case
from acidtest.reduce import order, reduce_case, switches
from acidtest.reduce.layers import LAYERS
from acidtest.reduce.order import texts_of
from acidtest.reduce.script import Draft, Edit, ImpossibleEditError, Script, apply

SETUP = """\
-- setup
CREATE TABLE accounts (id BIGINT NOT NULL, owner VARCHAR(20), sum INT, PRIMARY KEY (id), KEY k (owner));
CREATE INDEX by_sum ON accounts (sum, owner);
INSERT INTO accounts (id, owner, sum) VALUES (10, 'dog', 7);
INSERT INTO accounts (id, owner, sum) VALUES (20, 'cat', NULL), (30, 'cow', 9);
-- schedule
"""


NO_SETUP = "-- schedule\n"


def case_of(schedule: str, setup: str = SETUP) -> Case:
    return parse_case(setup + schedule, "case")


def reduced(case: Case, interesting: Callable[[str], bool], dialect: str = "mysql") -> tuple[str, ...]:
    """The statements that are left, set-up first, when the text of the whole case has to stay interesting."""
    result = reduce_case(case, dialect, lambda one: interesting(" ; ".join(texts_of(one))), rng=Random(1))
    assert result.stopped == "minimal"
    assert parse_case(print_case(result.case), "again") == result.case
    return texts_of(result.case)


def mentions(*words: str) -> Callable[[str], bool]:
    return lambda text: all(word in text for word in words)


def test_transactions_and_statements_that_do_not_matter_go() -> None:
    case = case_of(
        "/* tx1 */ BEGIN;\n/* tx2 */ SELECT 1;\n/* tx1 */ DELETE FROM accounts;\n/* tx1 */ COMMIT;\n"
    )
    assert reduced(case, mentions("DELETE")) == ("CREATE TABLE t (a INT)", "DELETE FROM t")


def test_begin_goes_only_with_its_end() -> None:
    case = case_of("/* tx1 */ BEGIN;\n/* tx1 */ SELECT 1;\n/* tx1 */ ROLLBACK;\n", setup=NO_SETUP)
    assert reduced(case, mentions("BEGIN", "SELECT")) == ("BEGIN", "SELECT *", "COMMIT")
    assert reduced(case, mentions("ROLLBACK", "SELECT")) == ("BEGIN", "SELECT *", "ROLLBACK")
    assert reduced(case, mentions("SELECT")) == ("SELECT *",)


def test_savepoints_go_together() -> None:
    case = case_of(
        "/* tx1 */ SAVEPOINT s;\n/* tx1 */ SELECT 1;\n/* tx1 */ ROLLBACK TO SAVEPOINT s;\n", setup=NO_SETUP
    )

    def valid(text: str) -> bool:
        return "SELECT" in text and ("ROLLBACK TO" in text) == ("SAVEPOINT s ;" in text)

    assert reduced(case, valid) == ("SELECT *",)


MARKED = """\
-- order: strict
-- schedule
/* a */ BEGIN;
/* a+ */ SELECT 1;
-- await b
/* b */ SELECT 2;
/* a */ COMMIT;
-- teardown
DROP ROLE r;
"""


def test_marks_and_the_teardown_go_unless_they_matter() -> None:
    case = parse_case(MARKED, "case")

    def smallest(interesting: Callable[[Case], bool]) -> str:
        def check(one: Case) -> bool:
            return "SELECT 1" in str(one) and interesting(one)

        return print_case(reduce_case(case, "postgres", check, rng=Random(1)).case)

    head = "-- id: case\n"
    assert smallest(lambda _: True) == f"{head}-- schedule\n/* tx1 */ SELECT 1;\n"
    assert smallest(lambda one: one.strict) == f"{head}-- order: strict\n-- schedule\n/* tx1 */ SELECT 1;\n"
    assert smallest(lambda one: bool(one.teardown)).endswith("SELECT 1;\n-- teardown\nDROP ROLE r;\n")
    joined = smallest(lambda one: any(step.statement.joined for step in one.steps))
    assert joined.startswith(f"{head}-- schedule\n/* tx1 */  ")
    assert "/* tx1+ */" in joined
    other = smallest(lambda one: any({*step.statement.awaits} - {step.session} for step in one.steps))
    assert "/* tx1 */ SELECT 1;                      -- await tx2\n" in other


def edits_of(name: str, script: Script) -> list[Edit]:
    return list(next(one for layer in LAYERS for one in layer.operations if one.name == name).edits(script))


def test_a_session_does_the_work_of_another_whose_transaction_is_over() -> None:
    case = case_of("/* tx1 */ DELETE FROM t;\n/* tx2 */ SELECT * FROM t;\n", setup=NO_SETUP)
    result = reduce_case(case, "mysql", lambda one: len(one.schedule) == 2, rng=Random(1))
    assert result.case.schedule == ("tx1", "tx1")


def test_sessions_with_overlapping_transactions_stay_apart() -> None:
    inside = "/* a */ BEGIN;\n/* b */ DELETE FROM t;\n/* a */ COMMIT;\n"
    behind = "/* a */ BEGIN;\n/* a */ COMMIT;\n/* b */ DELETE FROM t;\n"
    assert not edits_of("session", Script(case_of(inside, NO_SETUP), "mysql"))
    assert len(edits_of("session", Script(case_of(behind, NO_SETUP), "mysql"))) == 2


@pytest.mark.parametrize(
    ("statement", "words", "expected"),
    [
        ("SELECT a, b FROM t WHERE a = 1 ORDER BY b LIMIT 3 FOR UPDATE", ("SELECT",), "SELECT * FROM t"),
        (
            "SELECT a, b FROM t WHERE a = 1 LOCK IN SHARE MODE",
            ("SHARE",),
            "SELECT * FROM t LOCK IN SHARE MODE",
        ),
        ("SELECT a FROM t FOR UPDATE SKIP LOCKED", ("FOR UPDATE",), "SELECT * FROM t FOR UPDATE"),
        ("SELECT DISTINCT x.a FROM t AS x JOIN u AS y ON x.a = y.a", ("SELECT",), "SELECT * FROM t"),
        ("SELECT a FROM t UNION SELECT b FROM u", ("FROM u",), "SELECT * FROM u"),
        ("SELECT d.a FROM (SELECT a FROM t WHERE a > 3) AS d", ("SELECT",), "SELECT * FROM t"),
        ("WITH d AS (SELECT a FROM t) SELECT a FROM d", ("SELECT",), "SELECT * FROM d"),
        ("UPDATE t SET a = 1, b = 2, c = 3 WHERE a = 9", ("b =",), "UPDATE t SET b = 0"),
        ("INSERT INTO t (a, b) VALUES (1, 2), (3, 4)", ("INSERT",), "INSERT INTO t VALUES (0, 1)"),
        ("INSERT IGNORE INTO t VALUES (1, 2)", ("INSERT",), "INSERT INTO t VALUES (0, 1)"),
        ("REPLACE INTO t (a) VALUES (4)", ("REPLACE",), "REPLACE INTO t VALUES (0)"),
        ("REPLACE INTO t (a) VALUES (4)", ("INTO t",), "INSERT INTO t VALUES (0)"),
        ("SELECT /*+ NO_INDEX(t) */ a /* why */ FROM t -- so\n", ("SELECT",), "SELECT * FROM t"),
        (
            "DELETE FROM t WHERE (a = 1 OR b IN (2, 3)) AND NOT c BETWEEN 4 AND 5",
            ("c",),
            "DELETE FROM t WHERE c",
        ),
        ("DELETE FROM t WHERE COALESCE(a, b + 77) > 5", ("77",), "DELETE FROM t WHERE 77"),
        ("DELETE FROM t WHERE CASE WHEN a = 1 THEN b ELSE 88 END", ("88",), "DELETE FROM t WHERE 88"),
        ("DELETE FROM t WHERE a BETWEEN 4 AND 66", ("a", "66", "WHERE a"), "DELETE FROM t WHERE a = 66"),
        ("SHOW WARNINGS LIMIT 1", ("SHOW",), "SHOW WARNINGS LIMIT 1"),
    ],
)
def test_a_statement_loses_what_does_not_matter(
    statement: str, words: tuple[str, ...], expected: str
) -> None:
    case = case_of(f"/* tx1 */ {statement}\n;\n", setup=NO_SETUP)
    assert reduced(case, mentions(*words)) == (expected,)


def test_a_column_goes_everywhere() -> None:
    schedule = (
        "/* tx1 */ UPDATE accounts SET sum = 1, owner = 'me' WHERE owner = 'dog' AND id = 10;\n"
        "/* tx1 */ SELECT id, owner, sum FROM accounts ORDER BY owner, id;\n"
    )
    case = case_of(schedule)
    script = Script(case, "mysql")
    without_owner = apply(script, [edits_of("column", script)[1]])
    assert without_owner is not None
    assert texts_of(without_owner) == (
        "CREATE TABLE accounts (id BIGINT NOT NULL, sum INT, PRIMARY KEY (id))",
        "CREATE INDEX by_sum ON accounts(sum)",
        "INSERT INTO accounts (id, sum) VALUES (10, 7)",
        "INSERT INTO accounts (id, sum) VALUES (20, NULL), (30, 9)",
        "UPDATE accounts SET sum = 1 WHERE TRUE AND id = 10",
        "SELECT id, sum FROM accounts ORDER BY id",
    )


def test_tables_keep_only_what_matters() -> None:
    case = case_of("/* tx1 */ SELECT * FROM accounts;\n")

    def interesting(text: str) -> bool:
        return "CREATE TABLE" in text and "PRIMARY KEY" in text and "INSERT" in text and "SELECT" in text

    assert reduced(case, interesting) == (
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "INSERT INTO t VALUES (0)",
        "SELECT * FROM t",
    )


def test_texts_become_numbers_with_their_column() -> None:
    setup = "-- setup\nCREATE TABLE t (a VARCHAR(20));\nINSERT INTO t VALUES ('dog');\n-- schedule\n"
    case = case_of("/* tx1 */ UPDATE t SET a = 'cat' WHERE a = 'dog';\n", setup)

    def typed(text: str) -> bool:
        return (
            ("VARCHAR" in text) == ("'" in text)
            and text.count("a = ") == 2
            and "INSERT" in text
            and "CREATE" in text
        )

    assert reduced(case, typed) == (
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (0)",
        "UPDATE t SET a = 1 WHERE a = 0",
    )


def test_rows_of_several_inserts_come_into_one() -> None:
    setup = "-- setup\nINSERT INTO t VALUES (5);\nINSERT INTO t VALUES (7);\n-- schedule\n"
    left = reduced(
        case_of("/* tx1 */ COMMIT;\n", setup), lambda text: len(set(text) & set("0123456789")) >= 2
    )
    assert left == ("INSERT INTO t VALUES (0), (1)", "COMMIT")


def test_different_values_stay_different() -> None:
    """A write of the value that is there already is another bug than one that changes it."""
    setup = "-- setup\nINSERT INTO t VALUES (500);\n-- schedule\n"
    case = case_of("/* tx1 */ UPDATE t SET a = 300;\n/* tx1 */ UPDATE t SET a = 700;\n", setup)
    assert reduced(case, lambda text: text.count("UPDATE") == 2 and "INSERT" in text) == (
        "INSERT INTO t VALUES (0)",
        "UPDATE t SET a = 1",
        "UPDATE t SET a = 2",
    )


def test_equal_values_stay_equal() -> None:
    setup = "-- setup\nINSERT INTO t VALUES (500);\n-- schedule\n"
    left = reduced(case_of("/* tx1 */ UPDATE t SET a = 500;\n", setup), mentions("INSERT", "UPDATE"))
    assert left == ("INSERT INTO t VALUES (0)", "UPDATE t SET a = 0")


def test_names_are_those_that_a_reader_expects() -> None:
    setup = "-- setup\nCREATE TABLE one (id INT, v INT);\nCREATE TABLE two (id INT);\n-- schedule\n"
    case = case_of("/* s */ SELECT a.v FROM one AS a JOIN two AS b ON a.id = b.id;\n", setup)
    left = reduced(case, lambda text: text.count("INT") == 3 and text.count(".") == 3 and "JOIN" in text)
    assert left == (
        "CREATE TABLE t (a INT, b INT)",
        "CREATE TABLE t2 (a INT)",
        "SELECT x.b FROM t AS x JOIN t2 AS y ON x.a = y.a",
    )


def test_the_schedule_gets_fewer_switches() -> None:
    schedule = (
        "/* a */ BEGIN;\n/* b */ BEGIN;\n/* a */ UPDATE t SET x = 1;\n/* b */ UPDATE t SET x = 2;\n"
        "/* a */ COMMIT;\n/* b */ COMMIT;\n"
    )
    asked: list[Case] = []

    def reordering(candidate: Case) -> bool:
        asked.append(candidate)
        return len(candidate.schedule) == 6 and switches(candidate) > 1

    case = case_of(schedule, setup=NO_SETUP)
    result = reduce_case(
        case, "mysql", lambda one: len(one.schedule) == 6, rng=Random(1), reordering=reordering
    )
    assert asked
    assert switches(result.case) == 2
    assert result.case.schedule[0] == "tx1"


def test_levels_stay_with_their_sessions() -> None:
    levels = "-- level one: READ COMMITTED\n-- level two: SERIALIZABLE\n"
    text = f"{levels}-- schedule\n/* one */ BEGIN;\n/* two */ DELETE FROM t;\n/* one */ COMMIT;\n"
    case = parse_case(text, "levels")
    left = reduce_case(case, "mysql", lambda one: len(one.transactions) == 2, rng=Random(1)).case
    assert {(tx.statements[0].sql, str(tx.level)) for tx in left.transactions} == {
        ("BEGIN", "READ COMMITTED"),
        ("DELETE FROM t", "SERIALIZABLE"),
    }
    assert [tx.name for tx in left.transactions] == ["tx1", "tx2"]


def test_front_matter_stays_and_expectations_go() -> None:
    front = "-- id: X-1\n-- title: a title\n-- link: https://example.org/\n-- A story.\n"
    text = f"{front}-- schedule\n/* s */ SELECT 1;  -- expect: (1)\n"
    case = parse_case(text, "front")
    left = reduce_case(case, "mysql", lambda _: False, rng=Random(1)).case
    assert (left.id, left.title, left.links, left.story) == (case.id, case.title, case.links, case.story)
    assert not left.steps[0].statement.expect


def test_the_order_prefers_fewer_transactions_then_statements_then_text() -> None:
    one = case_of("/* a */ SELECT 1;\n/* a */ SELECT 1;\n/* a */ SELECT 1;\n", setup=NO_SETUP)
    two = case_of("/* a */ SELECT 1;\n/* b */ SELECT 1;\n", setup=NO_SETUP)
    shorter = case_of("/* a */ SELECT 1;\n/* a */ SELECT 1000000 + 1;\n", setup=NO_SETUP)
    assert order(shorter) < order(one) < order(two)


def test_writes_that_commit_by_themselves_come_into_the_set_up() -> None:
    case = case_of(
        "/* tx1 */ INSERT INTO accounts VALUES (1, 'x', 2);\n"
        "/* tx1 */ BEGIN;\n/* tx1 */ DELETE FROM accounts;\n/* tx1 */ COMMIT;\n"
    )
    result = reduce_case(
        case, "mysql", lambda one: mentions("INSERT", "DELETE", "BEGIN")(print_case(one)), rng=Random(1)
    )
    assert [statement.sql[:6] for statement in result.case.setup] == ["CREATE", "INSERT"]
    assert [step.sql[:6] for step in result.case.steps] == ["BEGIN", "DELETE", "COMMIT"]


QUOTED = """\
-- setup
CREATE TABLE `my Stock` (`Order` INT(11) PRIMARY KEY, note TEXT);
CREATE TABLE other (a INT);
INSERT INTO `my Stock` VALUES (1, 'x');
-- schedule
/* tx1 */ UPDATE `my stock` SET `order` = 2, Note = 'y';
"""


def test_quotes_and_mixed_cases_are_no_obstacle() -> None:
    assert reduced(parse_case(QUOTED, "quoted"), mentions("UPDATE", "INSERT", "CREATE")) == (
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (0)",
        "UPDATE t SET a = 1",
    )
    assert reduced(parse_case(QUOTED, "quoted"), mentions("UPDATE", "PRIMARY")) == (
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "UPDATE t SET a = 0",
    )


def test_the_words_of_sqlite() -> None:
    setup = "-- setup\nCREATE TABLE t (a INT PRIMARY KEY, b TEXT NOT NULL);\n-- schedule\n"
    case = case_of("/* tx1 */ INSERT OR REPLACE INTO t VALUES (1, 'x');\n", setup=setup)
    assert reduced(case, mentions("CREATE", "INSERT", "PRIMARY"), dialect="sqlite") == (
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "INSERT INTO t VALUES (0)",
    )


ODD = {
    "mysql": (
        "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO t () VALUES ()",
        "INSERT INTO t SET a = 1, b = 'x'",
        "INSERT INTO t VALUES (1, 'x', 2) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1",
        "CREATE TABLE v (a INT UNSIGNED ZEROFILL, b TEXT BINARY, c BIGINT ZEROFILL PRIMARY KEY)",
        "UPDATE t JOIN u ON t.a = u.a SET t.b = 'y' WHERE u.b > ALL (SELECT a FROM u)",
        "DELETE t FROM t JOIN u ON t.a = u.a",
        "SELECT a, ROW_NUMBER() OVER w FROM t WINDOW w AS (PARTITION BY b ORDER BY c)",
        "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x",
    ),
    "postgres": (
        "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING *",
        "UPDATE t SET (a, b) = (SELECT a, b FROM u LIMIT 1) FROM u WHERE t.a = u.a",
        "SELECT DISTINCT ON (a) a, b::text FROM t ORDER BY a FOR UPDATE SKIP LOCKED",
    ),
    "sqlite": ("INSERT INTO t DEFAULT VALUES", "SELECT [a], `b` FROM [t] WHERE a IS NOT 1 AND b GLOB 'x*'"),
    "duckdb": ("INSERT INTO t DEFAULT VALUES", "SELECT * EXCLUDE (a) FROM t QUALIFY COUNT(*) OVER () > 1"),
}


@pytest.mark.parametrize(
    ("dialect", "statement"), [(dialect, one) for dialect, odd in ODD.items() for one in odd]
)
def test_no_edit_stumbles_over_odd_statements(dialect: str, statement: str) -> None:
    setup = "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(9), c INT);\nCREATE TABLE u (a INT, b INT);\n"
    case = parse_case(f"-- setup\n{setup}-- schedule\n/* tx1 */ BEGIN;\n/* tx1 */ {statement};\n", "odd")
    script = Script(case, dialect)
    assert script.trees[-1] is not None
    tried = 0
    for operation in (one for layer in LAYERS for one in layer.operations):
        for edit in operation.edits(script):
            draft = Draft(script)
            with suppress(ImpossibleEditError):
                edit(draft)
                draft.case()
            tried += 1
    assert tried > 10
