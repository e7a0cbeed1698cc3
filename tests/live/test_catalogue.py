"""The schema of what only one DBMS has: each kind of index, partitions, rules, system versioning."""

from collections.abc import Iterator

import pytest

from acidtest.model import Column, Index
from acidtest.targets import Target
from acidtest.targets.resolve import open_target
from tests.conftest import provide


@pytest.fixture(scope="module")
def postgres() -> Iterator[Target]:
    with open_target("postgres") as target:
        yield target


@pytest.fixture(scope="module", params=["mariadb@10.11", "mysql@9.7"])
def innodb(request: pytest.FixtureRequest) -> Iterator[Target]:
    provide(request.param)
    with open_target(request.param) as target:
        yield target


def index_of(target: Target, table: str, name: str) -> Index:
    return next(index for index in target.schema().table(table).indexes if index.name == name)


def test_postgres_included_columns_are_no_keys(postgres: Target) -> None:
    postgres.rebuild(
        ["CREATE TABLE t (a INT, b INT, c INT)", "CREATE UNIQUE INDEX i ON t (a) INCLUDE (b, c)"]
    )
    assert index_of(postgres, "t", "i") == Index("i", ("a",), unique=True, included=("b", "c"))


def test_postgres_partial_expression_and_collated_keys(postgres: Target) -> None:
    postgres.rebuild(
        [
            'CREATE TABLE t (a INT, "B" TEXT)',
            "CREATE UNIQUE INDEX some_of ON t (a) WHERE a > 5",
            'CREATE INDEX computed ON t (lower("B"), "B")',
            'CREATE INDEX collated ON t ("B" COLLATE "POSIX")',
        ]
    )
    assert index_of(postgres, "t", "some_of").where == "a > 5"
    assert index_of(postgres, "t", "computed").columns == ('lower("B")', "B")
    assert index_of(postgres, "t", "collated").columns == ('"B" COLLATE "POSIX"',)


def test_postgres_when_and_how_a_key_is_unique(postgres: Target) -> None:
    postgres.rebuild(
        [
            "CREATE TABLE t (a INT UNIQUE DEFERRABLE INITIALLY DEFERRED, b INT)",
            "ALTER TABLE t ADD CONSTRAINT t_b_key UNIQUE NULLS NOT DISTINCT (b)",
        ]
    )
    assert index_of(postgres, "t", "t_a_key").deferrable
    assert index_of(postgres, "t", "t_a_key").nulls_distinct
    assert not index_of(postgres, "t", "t_b_key").nulls_distinct
    assert not index_of(postgres, "t", "t_b_key").deferrable


def test_postgres_partitions_belong_to_their_table(postgres: Target) -> None:
    postgres.rebuild(
        [
            "CREATE TABLE t (k INT PRIMARY KEY, v INT) PARTITION BY RANGE (k)",
            "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (k)",
            "CREATE TABLE t11 PARTITION OF t1 FOR VALUES FROM (0) TO (5)",
            "CREATE TABLE r (k INT REFERENCES t)",
        ]
    )
    schema = postgres.schema()
    assert [table.name for table in schema.tables] == ["r", "t"]
    assert schema.table("t").children == ("t1", "t11")
    assert schema.table("t").triggers == ()
    assert len(schema.table("r").foreign_keys) == 1


def test_postgres_tells_what_holds_for_a_part_of_the_family_alone(postgres: Target) -> None:
    postgres.rebuild(
        [
            "CREATE TABLE t (k INT PRIMARY KEY)",
            "CREATE TABLE child (CONSTRAINT small CHECK (k < 10)) INHERITS (t)",
        ]
    )
    table = postgres.schema().table("t")
    assert table.children == ("child",)
    # The parent's key does not hold for the rows of the child, and the child's check only for those.
    assert table.triggers == ("small", "t_pkey")


def test_postgres_rules_policies_and_special_keys_count_as_triggers(postgres: Target) -> None:
    postgres.rebuild(
        [
            "CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b))",
            "CREATE TABLE c (a INT, b INT, CONSTRAINT whole FOREIGN KEY (a, b) REFERENCES p MATCH FULL)",
            "CREATE RULE also AS ON UPDATE TO p DO ALSO SELECT 1",
            "CREATE POLICY shown ON p USING (a > 0)",
        ]
    )
    schema = postgres.schema()
    assert schema.table("p").triggers == ("also", "shown")
    assert schema.table("c").triggers == ("whole",)


def test_postgres_functions_are_the_cases_own(postgres: Target) -> None:
    postgres.rebuild(["CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"])
    assert postgres.schema().functions == ("f",)
    assert postgres.schema().folds_names == "lower"
    postgres.rebuild([])
    assert postgres.schema().functions == ()


def test_innodb_partitions_routines_and_prefixes(innodb: Target) -> None:
    innodb.rebuild(
        [
            "CREATE TABLE t (k INT PRIMARY KEY) PARTITION BY HASH (k) PARTITIONS 2",
            "CREATE TABLE s (v VARCHAR(20), UNIQUE KEY pre (v(3)), CHECK (v <> 'it''s'))",
            "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
            "CREATE PROCEDURE p() SELECT 1",
        ]
    )
    schema = innodb.schema()
    assert schema.table("t").children == ("p0", "p1")
    assert schema.functions == ("f", "p")
    assert index_of(innodb, "s", "pre").columns == ("v(3)",)
    (check,) = schema.table("s").checks
    assert r"'it\'s'" in check.expression
    innodb.rebuild([])
    assert innodb.schema().functions == ()


def test_innodb_hidden_columns_are_not_among_those_of_the_rows(innodb: Target) -> None:
    innodb.rebuild(["CREATE TABLE t (a INT, b INT DEFAULT 5 INVISIBLE)", "INSERT INTO t VALUES (1)"])
    assert [column.name for column in innodb.schema().table("t").columns] == ["a"]
    assert innodb.state(["t"])["t"] == ((1,),)


def test_a_system_versioned_table_is_a_table() -> None:
    provide("mariadb@10.11")
    with open_target("mariadb@10.11") as target:
        target.rebuild(["CREATE TABLE t (a INT) WITH SYSTEM VERSIONING", "INSERT INTO t VALUES (1)"])
        schema = target.schema()
        assert [table.name for table in schema.tables] == ["t"]
        assert target.state(["t"])["t"] == ((1,),)
        target.rebuild([])
        assert target.schema().tables == ()


def test_sqlite_partial_indexes_collations_and_strict_tables() -> None:
    with open_target("sqlite") as target:
        target.rebuild(
            [
                "CREATE TABLE t (a TEXT COLLATE NOCASE, b INT) STRICT",
                "CREATE UNIQUE INDEX some_of ON t (a) WHERE b > 5",
                "CREATE UNIQUE INDEX exact ON t (a COLLATE BINARY, b)",
                "CREATE INDEX computed ON t (b + 1)",
            ]
        )
        table = target.schema().table("t")
        assert table.columns[0] == Column("a", "TEXT", nullable=True, collation="NOCASE")
        assert index_of(target, "t", "some_of") == Index("some_of", ("a",), unique=True, where="b > 5")
        assert index_of(target, "t", "exact").columns == ('"a" COLLATE BINARY', "b")
        assert index_of(target, "t", "computed").columns == ("b + 1",)
        assert [check.expression for check in table.checks] == ["STRICT"]
