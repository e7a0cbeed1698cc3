"""Where statements end."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acidtest.sql.split import (
    MYSQL,
    STANDARD,
    Rules,
    Token,
    UnterminatedError,
    rules_for,
    split_script,
    tokens,
)


@pytest.mark.parametrize("rules", [MYSQL, STANDARD])
@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", ()),
        (" ;; ;", ()),
        ("SELECT 1", ("SELECT 1",)),
        ("SELECT 1;\n SELECT\n 2 ;", ("SELECT 1", "SELECT\n 2")),
        (
            "SELECT ';', '''; ', \"a;\"\"\", `b;```; SELECT 2",
            ("SELECT ';', '''; ', \"a;\"\"\", `b;```", "SELECT 2"),
        ),
        (
            "-- note; one\nSELECT 1 -- note; two\n; /* three; */ SELECT 3",
            ("SELECT 1 -- note; two", "SELECT 3"),
        ),
        ("SELECT '-- x', '/* x' ; SELECT 2", ("SELECT '-- x', '/* x'", "SELECT 2")),
        ("SELECT /*+ hint; */ 1; /*+ first */ SELECT 2", ("SELECT /*+ hint; */ 1", "/*+ first */ SELECT 2")),
        ("DO $$ a; 'b $$; DO $x$ $$;$y$ $x$", ("DO $$ a; 'b $$", "DO $x$ $$;$y$ $x$")),
        ("SELECT a$b$c; SELECT d$b$", ("SELECT a$b$c", "SELECT d$b$")),
        ("SELECT $1; SELECT $2", ("SELECT $1", "SELECT $2")),
        ("SELECT 'é😀;'; SELECT 2", ("SELECT 'é😀;'", "SELECT 2")),
        (
            "CREATE TABLE t (event INT, begin INT); SELECT 1",
            ("CREATE TABLE t (event INT, begin INT)", "SELECT 1"),
        ),
        ("BEGIN; SELECT CASE WHEN 1 THEN 2 END; END", ("BEGIN", "SELECT CASE WHEN 1 THEN 2 END", "END")),
    ],
)
def test_split_in_both_families(rules: Rules, text: str, statements: tuple[str, ...]) -> None:
    assert split_script(text, rules) == statements


@pytest.mark.parametrize(
    ("text", "mysql", "standard"),
    [
        (r"SELECT 'a\'; b'; SELECT 2", (r"SELECT 'a\'; b'", "SELECT 2"), None),
        (r"SELECT 'a\'; SELECT 2", None, (r"SELECT 'a\'", "SELECT 2")),
        (r'SELECT "a\";"; SELECT 2', (r'SELECT "a\";"', "SELECT 2"), None),
        (r"SELECT E'a\';'; SELECT 2", (r"SELECT E'a\';'", "SELECT 2"), (r"SELECT E'a\';'", "SELECT 2")),
        ("SELECT 5--3; SELECT 2", ("SELECT 5--3", "SELECT 2"), ("SELECT 5--3; SELECT 2",)),
        ("SELECT 5 # 3; SELECT 2", ("SELECT 5 # 3; SELECT 2",), ("SELECT 5 # 3", "SELECT 2")),
        ("SELECT /* a /* b */ 1;", ("SELECT /* a /* b */ 1",), None),
        ("SELECT /* a /* b */ ; */ 1;", ("SELECT /* a /* b */", "*/ 1"), ("SELECT /* a /* b */ ; */ 1",)),
        ("SELECT /*! '*/', ; */ 1;", ("SELECT /*! '*/', ; */ 1",), None),
        (
            "/*!40101 SET a = 1 */; SELECT 2",
            ("/*!40101 SET a = 1 */", "SELECT 2"),
            ("/*!40101 SET a = 1 */", "SELECT 2"),
        ),
        ("SELECT 1 --", ("SELECT 1 --",), ("SELECT 1 --",)),
    ],
)
def test_families_differ(text: str, mysql: tuple[str, ...] | None, standard: tuple[str, ...] | None) -> None:
    for rules, statements in ((MYSQL, mysql), (STANDARD, standard)):
        if statements is None:
            with pytest.raises(UnterminatedError):
                split_script(text, rules)
        else:
            assert split_script(text, rules) == statements


@pytest.mark.parametrize(
    "body",
    [
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = 1; DELETE FROM u; END",
        "CREATE DEFINER=`root`@`localhost` PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; SELECT 2; END",
        "CREATE PROCEDURE p() BEGIN CASE a WHEN 1 THEN SELECT 1; END CASE; BEGIN SELECT 2; END; END",
        "CREATE FUNCTION f() RETURNS INT BEGIN WHILE a DO SET a = CASE b WHEN 1 THEN 1 END; END WHILE; END",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
        "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN RETURN NEW; END $$ LANGUAGE plpgsql",
    ],
)
def test_bodies_of_routines_are_one_statement(body: str) -> None:
    assert split_script(f"{body}; SELECT 1;") == (body, "SELECT 1")


@pytest.mark.parametrize(
    ("text", "offset", "closing"),
    [
        ("SELECT 'it''s", 7, "'"),
        ('SELECT "a', 7, '"'),
        ("SELECT `a", 7, "`"),
        ("SELECT /* a", 7, "*/"),
        ("SELECT /* a /* b */", 7, "*/"),
        ("SELECT $q$ a $$", 7, "$q$"),
    ],
)
def test_unterminated(text: str, offset: int, closing: str) -> None:
    with pytest.raises(UnterminatedError) as caught:
        split_script(text)
    assert (caught.value.offset, caught.value.closing) == (offset, closing)


def test_unterminated_code_comment() -> None:
    with pytest.raises(UnterminatedError) as caught:
        split_script("SELECT /*! 1", MYSQL)
    assert caught.value.offset == 7


def test_rules_are_mysql_only_if_all_targets_are() -> None:
    assert rules_for(["mysql", "seekdb", "mariadb", "tidb"]) is MYSQL
    assert rules_for(["mysql", "postgres"]) is STANDARD
    assert rules_for([]) is STANDARD


@settings(deadline=None)
@given(st.text(alphabet="ab'\"`;-/*!+#$\\\n 1Eé", max_size=40), st.sampled_from([MYSQL, STANDARD]))
def test_tokens_leave_no_gap(text: str, rules: Rules) -> None:
    found: list[Token] = []
    with suppress(UnterminatedError):
        found.extend(tokens(text, rules))
    joined = "".join(token.text for token in found)
    assert text.startswith(joined)
    assert all(token.text == text[token.start : token.end] for token in found)
