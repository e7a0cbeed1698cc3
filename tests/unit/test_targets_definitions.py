"""What is read out of the CREATE statements that SQLite and DuckDB keep."""

from acidtest.model import Check
from acidtest.targets.definitions import read_index, read_table, unquote


def test_a_table_tells_its_collations_checks_and_computed_columns() -> None:
    text = read_table(
        """CREATE TABLE "t" (
            id INTEGER PRIMARY KEY, -- the key, with a comma
            "odd, name" TEXT COLLATE NOCASE DEFAULT '),(' CHECK (length("odd, name") < 5),
            [in brackets] INT GENERATED ALWAYS AS ((id + 1) * 2) STORED,
            CONSTRAINT named CHECK (id > 0 AND id IN (1, 2)), UNIQUE (id)
        )"""
    )
    assert text.collations == {"odd, name": "NOCASE"}
    assert text.generated == {"in brackets": "(id + 1) * 2"}
    assert text.checks == (
        Check("", 'length("odd, name") < 5'),
        Check("named", "id > 0 AND id IN (1, 2)"),
    )
    assert text.options == ()
    assert not text.has_conflict_clause
    assert not text.is_deferred


def test_options_and_clauses_that_change_what_constraints_do() -> None:
    text = read_table("CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE) STRICT, WITHOUT ROWID")
    assert text.options == ("STRICT", ",", "WITHOUT", "ROWID")
    assert text.has_conflict_clause
    assert read_table("CREATE TABLE t (a REFERENCES u DEFERRABLE INITIALLY DEFERRED)").is_deferred
    assert not read_table("CREATE TABLE t (a REFERENCES u NOT DEFERRABLE INITIALLY DEFERRED)").is_deferred


def test_an_index_tells_its_keys_and_its_condition() -> None:
    text = read_index("CREATE UNIQUE INDEX i ON t ((a + b), lower(c), d DESC) WHERE a > 5 AND c <> ')';")
    assert text.keys == ("(a + b)", "lower(c)", "d DESC")
    assert text.where == "a > 5 AND c <> ')'"
    assert read_index("CREATE INDEX i ON t (a)").where is None


def test_quotes_are_taken_off() -> None:
    assert unquote('"a ""b"""') == 'a "b"'
    assert unquote("plain") == "plain"
