"""What case files mean, and what is said of those that mean nothing."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from acidtest.casefile import format_value, load_case, parse_case
from acidtest.errors import UsageError
from acidtest.model import (
    Bug,
    BugKind,
    BugStatus,
    Condition,
    ErrorKind,
    ExpectAffected,
    Expectation,
    ExpectBlocked,
    ExpectError,
    ExpectOk,
    ExpectRows,
    FinalExpectation,
    Level,
    Sighting,
    TargetConstraint,
    Value,
)

HEAD = "-- schedule\n/* a */ SELECT 1;\n/* b */ SELECT 2;\n"


def test_the_example_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "case-files.md").read_text(encoding="utf-8")
    example = page.split("```sql\n", 1)[1].split("```", 1)[0]
    case = parse_case(example, "docs")
    assert case.id == "MDEV-26642"
    assert case.title.startswith("own update invisible")
    assert case.links == ("https://jira.mariadb.org/browse/MDEV-26642",)
    assert case.targets == (TargetConstraint("mariadb", (">=10.1", "<11.6")), TargetConstraint("mysql"))
    assert case.story == ("Any other comment of the front block is the story, kept as prose.",)
    assert [statement.sql for statement in case.setup] == [
        "CREATE TABLE t (c1 INT, c2 INT)",
        "INSERT INTO t VALUES (0, 0), (1, 1)",
    ]
    assert case.schedule == ("tx1", "tx1", "tx2", "tx1", "tx1", "tx1")
    assert case.transaction("tx1").level is Level.REPEATABLE_READ
    assert case.transaction("tx2").level is Level.READ_COMMITTED
    assert case.steps[2].sql == "UPDATE t SET c1 = 10\n          WHERE c2 = 1"
    assert case.steps[2].statement.expect == (Expectation(((ExpectAffected(1),),)),)
    assert case.expect_final == (FinalExpectation("t", (((10, 0), (10, 1)),)),)


def test_the_id_defaults_to_the_stem(tmp_path: Path) -> None:
    path = tmp_path / "lost-update.sql"
    path.write_text(HEAD)
    assert load_case(path).id == "lost-update"
    assert parse_case(HEAD, "dir/lost-update.sql").id == "lost-update"


def test_front_block() -> None:
    text = "\n-- id:X\n--title: a: b\n\n-- https://example.org is story\n-- setup the tables\n--\n" + HEAD
    case = parse_case(text, "x")
    assert (case.id, case.title) == ("X", "a: b")
    assert case.story == ("https://example.org is story", "setup the tables", "")
    assert case.transaction("a").level is None


@pytest.mark.parametrize("spelling", ["RR", "repeatable read", "REPEATABLE-READ", "Repeatable_Read"])
def test_spellings_of_levels(spelling: str) -> None:
    assert parse_case(f"-- level: {spelling}\n{HEAD}", "x").transaction("a").level is Level.REPEATABLE_READ


def test_comments_between_statements_are_ignored() -> None:
    text = """-- setup
-- a note
CREATE TABLE t (a INT); -- another
/* a block of words */ INSERT INTO t VALUES (1);
-- schedule
-- blocked by tx1
/* tx1 */ SELECT 1; -- (1,2); resumed by tx1
/* a block
   of words; */
/* tx1 */ /* inside */ SELECT /*! 2 */ -- three
 ;
-- final
-- t: (1)
"""
    case = parse_case(text, "x")
    assert [statement.sql for statement in case.setup] == [
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (1)",
    ]
    assert [step.sql for step in case.steps] == ["SELECT 1", "/* inside */ SELECT /*! 2 */ -- three"]


def test_backslashes_go_by_the_family_of_the_targets() -> None:
    text = "-- schedule\n/* a */ SELECT 'it\\'s; one';\n"
    assert parse_case("-- target: tidb\n" + text, "x").steps[0].sql == "SELECT 'it\\'s; one'"
    with pytest.raises(UsageError, match="backslash escapes need `-- target:` lines"):
        parse_case("-- target: tidb\n-- target: postgres\n" + text, "x")
    plain = "-- schedule\n/* a */ SELECT 'C:\\';\n"
    assert parse_case(plain, "x").steps[0].sql == "SELECT 'C:\\'"


@pytest.mark.parametrize(
    ("text", "alternatives"),
    [
        ("(1,'a') (2,NULL)", ((ExpectRows(((1, "a"), (2, None))),),)),
        ("(1)(2)", ((ExpectRows(((1,), (2,))),),)),
        ("ordered (1) (2)", ((ExpectRows(((1,), (2,)), ordered=True),),)),
        ("no rows", ((ExpectRows(()),),)),
        ("ordered no rows", ((ExpectRows((), ordered=True),),)),
        ("affected 2", ((ExpectAffected(2),),)),
        ("ok", ((ExpectOk(),),)),
        ("error", ((ExpectError(),),)),
        ("error deadlock", ((ExpectError(ErrorKind.DEADLOCK),),)),
        ("error 1020", ((ExpectError(code="1020"),),)),
        ("error 40P01", ((ExpectError(code="40P01"),),)),
        ("error HY000", ((ExpectError(code="HY000"),),)),
        ("error -4016", ((ExpectError(code="-4016"),),)),
        ("error deadlock 1213", ((ExpectError(ErrorKind.DEADLOCK, "1213"),),)),
        ("error or ok", ((ExpectError(),), (ExpectOk(),))),
        ("blocked", ((ExpectBlocked(),),)),
        ("blocked by a, b; ok", ((ExpectBlocked(by=("a", "b")), ExpectOk()),)),
        ("not blocked", ((ExpectBlocked(blocked=False),),)),
        ("('a or b; c') or (1)", ((ExpectRows((("a or b; c",),)),), (ExpectRows(((1,),)),))),
        ("  blocked ;ok  or\terror 1 ", ((ExpectBlocked(), ExpectOk()), (ExpectError(code="1"),))),
    ],
)
def test_conditions(text: str, alternatives: tuple[tuple[Condition, ...], ...]) -> None:
    case = parse_case(f"{HEAD}-- expect: {text}\n", "x")
    assert case.steps[1].statement.expect == (Expectation(alternatives),)
    assert case.steps[0].statement.expect == ()


def test_levels_of_expectations() -> None:
    case = parse_case(
        f"{HEAD}-- expect: ok\n-- expect RC, read uncommitted: error\n-- final\n-- expect at at SI: (1)\n",
        "x",
    )
    general, special = case.steps[1].statement.expect
    assert general.levels == ()
    assert special.levels == (Level.READ_COMMITTED, Level.READ_UNCOMMITTED)
    assert case.expect_final == (FinalExpectation("at", (((1,),),), (Level.SNAPSHOT,)),)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-12", -12),
        ("+1", 1),
        ("1.50", Decimal("1.50")),
        (".5", Decimal("0.5")),
        ("1.5e0", 1.5),
        ("1E+3", 1000.0),
        ("'it''s'", "it's"),
        (r"'a\n'", r"a\n"),
        (r"E'a\n\t\\\'''\u00e9\U0001F600'", "a\n\t\\''é😀"),
        ("null", None),
        ("True", True),
        ("x'00fF'", b"\x00\xff"),
        ("DATE '2020-01-02'", date(2020, 1, 2)),
        ("TIMESTAMP '2020-01-02 03:04:05.5'", datetime(2020, 1, 2, 3, 4, 5, 500000)),
        ("TIME '03:04:05'", time(3, 4, 5)),
        ("INTERVAL '-26:03:04.5'", -timedelta(hours=26, minutes=3, seconds=4.5)),
        ("FLOAT '-Infinity'", float("-inf")),
    ],
)
def test_literals(text: str, value: Value) -> None:
    condition = (
        parse_case(f"{HEAD}-- expect: ( {text} )\n", "x").steps[1].statement.expect[0].alternatives[0][0]
    )
    assert isinstance(condition, ExpectRows)
    ((read,),) = condition.rows
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.50"), "1.50"),
        (Decimal("10"), "10"),
        (Decimal("1E+2"), "100"),
        (1.5, "1.5e0"),
        (1e300, "1e+300"),
        (float("nan"), "FLOAT 'NaN'"),
        (Decimal("NaN"), "DECIMAL 'NaN'"),
        (True, "TRUE"),
        ("it's", "'it''s'"),
        ("C:\\", "'C:\\'"),
        ("a\nb\\'\x00😀", "E'a\\nb\\\\''\\u0000😀'"),
        (b"\x00\xff", "x'00ff'"),
        (datetime(2020, 1, 2, 3, 4, 5), "TIMESTAMP '2020-01-02 03:04:05'"),
        (timedelta(hours=-26), "INTERVAL '-26:00:00'"),
    ],
)
def test_written_literals(value: Value, text: str) -> None:
    assert format_value(value) == text


ERRORS = [
    # front block
    ("", "1:1", "a line `-- setup` or `-- schedule`, found the end of the file"),
    ("\n \n", "3:1", "found the end of the file"),
    ("-- story only\n", "2:1", "a line `-- setup` or `-- schedule`"),
    ("SELECT 1;\n", "1:1", "a `-- key: value` line, a comment, .*, found `SELECT 1;`"),
    ("-- idd: x\n", "1:1", "keys id, title, link, target, level, order, server, .*, found the key `idd`"),
    ("-- id: x\n  -- id: y\n", "2:3", "only one `id` line, found a second one"),
    ("-- title: x\n-- title: y\n", "2:1", "only one `title` line"),
    ("-- level: RC\n-- level: RC\n", "2:1", "only one `level` line"),
    ("-- level a: RC\n-- level a: RC\n", "2:1", "only one `level a` line"),
    ("-- id:\n", "1:7", "a value after `id:`, found the end of the line"),
    ("-- level: chaos\n", "1:11", r"an isolation level: READ UNCOMMITTED \(RU\), .*, found `chaos`"),
    ("-- level tx: chaos\n", "1:14", "an isolation level"),
    ("-- level c: RC\n" + HEAD, "1:1", r"a session of the schedule \(a, b\), found `c`"),
    ("-- target: oracle\n", "1:12", "a target: mysql, .*, found `oracle`"),
    ("-- target: mysql >=8 ~9\n", "1:22", "a version bound such as >=10.5, .*, found `~9`"),
    ("-- target: mysql >= 8\n", "1:18", "a version bound"),
    ("-- expect: ok\n" + HEAD, "1:1", "before any expectation"),
    # sections
    ("-- setup\nSELECT 1;\n", "3:1", "a line `-- schedule`, found the end of the file"),
    ("-- schedule\n", "2:1", "a statement after `-- schedule`, found the end of the file"),
    ("-- setup\n-- setup\n", "2:1", "only one section `-- setup`, found a second one"),
    (HEAD + "-- schedule\n", "4:1", "only one section `-- schedule`"),
    (HEAD + "-- setup\n", "4:1", "`-- setup` before `-- schedule`, found it after"),
    ("-- schedule\n-- final\n", "2:1", "a `-- schedule` with a statement before `-- final`"),
    ("-- final\n", "1:1", "a `-- schedule` with a statement before `-- final`"),
    (HEAD + "-- final\nSELECT 1;\n", "5:1", "only `-- expect TABLE: ROWS` lines in `-- final`"),
    (
        "-- setup\nCREATE TABLE t (a INT); -- expect: ok\n",
        "2:25",
        "expectations only after statements of the",
    ),
    # statements
    ("-- schedule\nSELECT 1;\n", "2:1", r"`/\* session \*/` before the statement, found `SELECT 1;`"),
    ("-- schedule\n/* a */ SELECT 1; SELECT 2;\n", "2:19", "before the statement, found `SELECT 2;`"),
    ("-- schedule\n/* a */ SELECT 1;;\n", "2:18", r"`/\* session \*/` before the statement, found `;`"),
    ("-- schedule\n/* a */ ;\n", "2:9", "a statement before `;`"),
    ("-- schedule\n/* a */ /* only words */ ;\n", "2:26", "a statement before `;`"),
    ("-- schedule\n/* a */ ", "2:9", r"a statement after `/\* a \*/`, found the end of the file"),
    ("-- schedule\n/* a */ SELECT 1\n", "3:1", "`;` at the end of the statement, found the end of the file"),
    (
        "-- schedule\n/* a */ SELECT 1\n/* b */ SELECT 2;\n",
        "3:1",
        r"`;` at the end of .*, found `/\* b \*/ SELECT",
    ),
    (
        "-- schedule\n/* a */ SELECT 1 -- expect: (1)\n;",
        "2:18",
        "`;` at the end of the statement, found `-- exp",
    ),
    ("-- schedule\n/* a */ SELECT 1\n-- final\n", "3:1", "`;` at the end of the statement, found `-- final`"),
    ("-- setup\nCREATE TABLE t (a INT)\n-- schedule\n", "3:1", "`;` at the end of the statement"),
    ("-- schedule\n/* a */ SELECT 'open;\n", "2:16", "`'` to close the string, found only `'open;`"),
    ('-- schedule\n/* a */ SELECT "open;\n', "2:16", '`"` to close the string'),
    ("-- schedule\n/* a */ SELECT `open;\n", "2:16", "to close the quoted identifier"),
    ("-- schedule\n/* a */ SELECT $q$ open;\n", "2:16", r"`\$q\$` to close the dollar quote"),
    ("-- schedule\n/* a */ SELECT /* open;\n", "2:16", r"`\*/` to close the comment"),
    ("-- schedule\n/* a \n", "2:1", r"`\*/` to close the comment"),
    # expectations
    ("-- schedule\n-- expect: ok\n/* a */ SELECT 1;\n", "2:1", "a statement before its expectation"),
    (
        HEAD + "-- expect\n",
        "4:10",
        r"`:` or an isolation level \(RU, RC, RR, SI, SER\), found the end of the line",
    ),
    (HEAD + "-- expect ok\n", "4:11", "`:` or an isolation level .*, found `ok`"),
    (HEAD + "-- expect RC ok\n", "4:11", "`:` or an isolation level"),
    (HEAD + "-- expect RC, chaos: ok\n", "4:15", "an isolation level .*, found `chaos: ok`"),
    (HEAD + "-- expect RC\n", "4:13", "`:` after `expect` or after the levels"),
    (HEAD + "-- expect:\n", "4:11", "rows such as .*, found the end of the line"),
    (HEAD + "-- expect: success\n", "4:12", "rows such as .* or `unlike`, found `success`"),
    (HEAD + "-- expect: error deadlok\n", "4:18", r"an error code or kind \(deadlock, .*, found `deadlok`"),
    (HEAD + "-- expect: error 1 2\n", "4:20", "`or`, `;` or the end of the line, found `2`"),
    (HEAD + "-- expect: affected many\n", "4:21", "the number of rows after `affected`, found `many`"),
    (HEAD + "-- expect: affected " + "9" * 5000, "4:21", "found one of 5000 digits"),
    (HEAD + "-- expect: blocked by c\n", "4:23", r"a session of the schedule \(a, b\), found `c`"),
    (HEAD + "-- expect: not ok\n", "4:16", "`blocked` after `not`, found `ok`"),
    (HEAD + "-- expect: no luck\n", "4:15", "`rows` after `no`, found `luck`"),
    (HEAD + "-- expect: ordered 1\n", "4:20", "rows such as"),
    (HEAD + "-- expect: ok or\n", "4:17", "rows such as .*, found the end of the line"),
    (HEAD + "-- expect: ok;\n", "4:15", "rows such as .*, found the end of the line"),
    (HEAD + "-- expect: (1) 2\n", "4:16", "`or`, `;` or the end of the line, found `2`"),
    (HEAD + "-- expect: (1", "4:14", r"`,` or `\)` in the row, found the end of the file"),
    (HEAD + "-- expect: (1,)\n", "4:15", r"a value such as 1, .*, found `\)`"),
    (HEAD + "-- expect: (1x)\n", "4:13", "a value such as"),
    (HEAD + "-- expect: ('a\n", "4:13", "a value such as"),
    (HEAD + "-- expect: (x'0')\n", "4:13", "a value such as"),
    (HEAD + "-- expect: (DATE '2020-13-01')\n", "4:13", "a value, found `DATE '2020-13-01'`, which is none"),
    (HEAD + "-- expect: (INTERVAL '1 day')\n", "4:13", "a value, found `INTERVAL '1 day'`, which is none"),
    (HEAD + "-- expect: (DECIMAL 'x')\n", "4:13", "a value, found `DECIMAL 'x'`, which is none"),
    (HEAD + "-- expect: (E'\\q')\n", "4:13", r"a value, found the unknown escape \\q"),
    (HEAD + "-- expect: (E'\\UFFFFFFFF')\n", "4:13", "a value, found a character beyond Unicode"),
    (HEAD + "-- expect: (" + "9" * 5000 + ")", "4:13", "a value, found an integer of 5000 digits"),
    (HEAD + "-- final\n-- expect: (1)\n", "5:10", "the table whose final rows are expected, found `: "),
    (HEAD + "-- final\n-- expect t (1)\n", "5:13", "`:` or `at LEVEL:` after the table"),
    (HEAD + "-- final\n-- expect t at chaos: (1)\n", "5:16", "an isolation level"),
    (HEAD + "-- final\n-- expect t: ok\n", "5:14", "rows such as .* or `no rows`, found `ok`"),
    (HEAD + "-- final\n-- expect t: (1); (2)\n", "5:17", "or the end of the line, found `; "),
    # steps of several statements, awaits, the teardown
    ("-- schedule\n/* a+ */ SELECT 1;\n", "2:1", r"a statement of a right before `/\* a\+ \*/`"),
    ("-- schedule\n/* a */ SELECT 1;\n/* b+ */ SELECT 1;\n", "3:1", "a statement of b right before"),
    ("-- schedule\n-- await\n", "2:1", "a statement before `await`"),
    (HEAD + "-- await c\n", "4:10", r"sessions of the schedule \(a, b\) after `await`, found `c`"),
    ("-- schedule\n/* a */ SELECT 1 -- await\n;\n", "2:18", "`;` at the end of the statement"),
    ("-- server: log_bin\n-- schedule\n/* a */ SELECT 1;\n", "1:12", "an option of the server such as"),
    ("-- repeat: 0\n-- schedule\n/* a */ SELECT 1;\n", "1:12", "how often to run it"),
    ("-- compare: yes\n-- schedule\n/* a */ SELECT 1;\n", "1:13", "`without transactions`"),
    ("-- status: maybe\n-- schedule\n/* a */ SELECT 1;\n", "1:12", "one of: confirmed, disputed"),
    ("-- seen: mysql@9.7 XX\n-- schedule\n/* a */ SELECT 1;\n", "1:20", "an isolation level"),
    ("-- setup\n-- include no.sql\n-- schedule\n/* a */ SELECT 1;\n", "2:1", "a file no.sql beside"),
    (HEAD + "-- expect: like 1\n", "4:17", "a regular expression in quotes"),
    (HEAD + "-- expect: like '('\n", "4:17", "a regular expression in quotes"),
    (HEAD + "-- expect: resumed by c\n", "4:23", "a session of the schedule"),
    (HEAD + "-- expect: warning bad\n", "4:20", "a code"),
    ("-- order: loose\n-- schedule\n/* a */ SELECT 1;\n", "1:11", "`strict`, found `loose`"),
    ("-- teardown\nSELECT 1;\n", "1:1", "a `-- schedule` with a statement before `-- teardown`"),
    (HEAD + "-- teardown\n-- expect: ok\n", "5:1", "expectations only after statements of the schedule"),
    # places
    ("\t-- id: x\n\t\t-- id: y\n", "2:3", "only one"),
    ("-- id: x\r\n-- story\r\n-- id: y\r\n", "3:1", "only one"),
    ("\ufeff-- idd: x\n", "1:1", "the key `idd`"),
    ("-- schedule\n/* a */ SELECT '😀漢', \"open\n", "2:22", "to close the string"),
    (HEAD + "-- expect: ('😀','é') 2\r\n", "4:22", "`or`, `;` or the end of the line, found `2`"),
]


@pytest.mark.parametrize(("text", "place", "words"), ERRORS)
def test_malformed(text: str, place: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"^dir/x\.sql:{place}: expected .*{words}"):
        parse_case(text, "dir/x.sql")


@pytest.mark.parametrize(
    ("data", "place", "found"),
    [
        ("-- id: x\n-- é\n".encode() + b"-- \xe9\n", "3:4", "text in UTF-8, found the byte 0xe9"),
        ("-- id: x\n".encode("utf-16"), "1:1", "text in UTF-8, found the byte 0xff"),
        ("\ufeff-- é".encode() + b"\xff", "1:5", "text in UTF-8, found the byte 0xff"),
        (b"\x00\x01", "1:1", r"found `\\x00\\x01`"),
        (b"", "1:1", "found the end of the file"),
    ],
)
def test_wrong_bytes(tmp_path: Path, data: bytes, place: str, found: str) -> None:
    path = tmp_path / "x.sql"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=rf"x\.sql:{place}: expected .*{found}"):
        load_case(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a case file, found a directory"):
        load_case(tmp_path)
    with pytest.raises(UsageError, match="expected a case file that can be read, found no such file"):
        load_case(tmp_path / "missing.sql")
    with pytest.raises(UsageError, match="expected a path, found a NUL character"):
        load_case(tmp_path / "a\0b")


def test_bom_and_crlf_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.sql"
    path.write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
    assert load_case(path) == parse_case(HEAD, "x")


STEPS = r"""-- order: strict
-- setup
CREATE TABLE t (a INT)\; INSERT INTO t VALUES (';');
-- schedule
/* a */  BEGIN;
/* a+ */ UPDATE t SET a = 1;  -- await b, a
/* b */  INSERT INTO t VALUES (2)\; SELECT 1; -- expect: (1)
-- await
-- teardown
DROP ROLE r;
DROP TABLE t;
"""


def test_steps_of_several_statements_awaits_and_a_teardown() -> None:
    case = parse_case(STEPS, "x.sql")
    assert case.strict
    assert [statement.sql for statement in case.setup] == [
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (';')"
    ]
    first, second = (tx.statements for tx in case.transactions)
    assert [(one.sql, one.joined, one.awaits) for one in first] == [
        ("BEGIN", False, ()),
        ("UPDATE t SET a = 1", True, ("b", "a")),
    ]
    assert [(one.sql, one.joined, one.awaits) for one in second] == [
        ("INSERT INTO t VALUES (2); SELECT 1", False, ("b",))
    ]
    assert len(second[0].expect) == 1
    assert [statement.sql for statement in case.teardown] == ["DROP ROLE r", "DROP TABLE t"]


def test_a_script_in_a_routine_needs_no_backslash() -> None:
    routine = "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END"
    case = parse_case(f"-- setup\n{routine};\n-- schedule\n/* a */ SELECT 1;\n", "x.sql")
    assert [statement.sql for statement in case.setup] == [routine]


def test_what_is_known_of_a_bug() -> None:
    case = parse_case(
        """\
-- status: disputed
-- kind: missing block
-- reported: 10.5.9
-- fixed: 10.6.1
-- paper: Troc
-- levels: RC, RR
-- seen: mariadb@10.5.23 RC
-- seen: mariadb@10.11.19 no level
-- schedule
/* tx1 */ SELECT 1;
""",
        "x.sql",
    )
    assert case.bug == Bug(
        BugStatus.DISPUTED,
        BugKind.MISSING_BLOCK,
        "10.5.9",
        "10.6.1",
        "Troc",
        (Level.READ_COMMITTED, Level.REPEATABLE_READ),
        (Sighting("mariadb@10.5.23", (Level.READ_COMMITTED,)), Sighting("mariadb@10.11.19")),
    )


def test_a_set_up_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "rows.sql").write_text("INSERT INTO t VALUES (1); -- one\nINSERT INTO t VALUES (2);\n")
    path = tmp_path / "x.sql"
    path.write_text(
        "-- setup\nCREATE TABLE t (a INT);\n-- include rows.sql\n-- schedule\n/* a& */ SELECT 1;\n"
    )
    case = load_case(path)
    assert [one.sql for one in case.setup] == [
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2)",
    ]
    assert case.steps[0].statement.parallel
