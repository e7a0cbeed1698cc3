"""What the schema says of constraints, computed columns, triggers and views, on every DBMS."""

from collections.abc import Callable

from acidtest.model import Action
from acidtest.targets import Target
from tests.conformance.profiles import SETUP, Profile

Need = Callable[[object, str], None]


def test_a_foreign_key_says_what_it_refers_to(target: Target, need: Need) -> None:
    need(True, "foreign_keys")
    target.rebuild(SETUP)
    (key,) = target.schema().table("child").foreign_keys
    assert (key.columns, key.table, key.references) == (("parent_id",), "parent", ("id",))
    assert key.on_delete in (Action.NO_ACTION, Action.RESTRICT)
    assert not key.deferrable
    assert target.schema().table("parent").foreign_keys == ()


def test_a_foreign_key_says_what_it_does(target: Target, profile: Profile, need: Need) -> None:
    need(profile.cascades, "foreign_keys")
    reference = "FOREIGN KEY (a, b) REFERENCES target_table (x, y) ON DELETE CASCADE ON UPDATE SET NULL"
    target.rebuild(
        [
            "CREATE TABLE target_table (x INT, y INT, PRIMARY KEY (x, y))",
            f"CREATE TABLE source_table (b INT, a INT, {reference})",
        ]
    )
    (key,) = target.schema().table("source_table").foreign_keys
    assert (key.columns, key.references) == (("a", "b"), ("x", "y"))
    assert (key.on_delete, key.on_update) == (Action.CASCADE, Action.SET_NULL)


def test_checks_are_told(target: Target, profile: Profile, need: Need) -> None:
    need(profile.has("check", target), "check_told")
    target.rebuild(SETUP)
    (check,) = target.schema().table("parent").checks
    assert "1000" in check.expression
    assert target.schema().table("child").checks == ()


def test_a_computed_column_says_how(target: Target, profile: Profile, need: Need) -> None:
    need(profile.generated_column, "generated")
    target.rebuild([f"CREATE TABLE t (id INT PRIMARY KEY, d INT DEFAULT 7, {profile.generated_column})"])
    key, default, computed = target.schema().table("t").columns
    assert computed.generated
    assert "id" in str(computed.expression)
    assert computed.default is None
    assert (key.expression, default.expression) == (None, None)
    assert not key.generated
    assert "7" in str(default.default)


def test_triggers_stand_with_their_table(target: Target, profile: Profile, need: Need) -> None:
    need(profile.trigger, "triggers")
    target.rebuild([*SETUP, *profile.trigger])
    schema = target.schema()
    assert schema.table("parent").triggers == ("noted",)
    assert schema.table("child").triggers == ()
    target.rebuild(SETUP)
    assert target.schema().table("parent").triggers == ()


def test_views_are_named_apart_from_tables(target: Target) -> None:
    target.rebuild([*SETUP, "CREATE VIEW seen AS SELECT id FROM parent"])
    schema = target.schema()
    assert schema.views == ("seen",)
    assert [table.name for table in schema.tables] == ["child", "parent"]
    target.rebuild(SETUP)
    assert target.schema().views == ()


def test_what_a_case_makes_later_is_told_too(target: Target, need: Need) -> None:
    need(True, "foreign_keys")
    target.rebuild(["CREATE TABLE parent (id INT PRIMARY KEY)"])
    assert target.schema().table("parent").foreign_keys == ()
    session = target.open_session()
    session.launch("CREATE TABLE late (parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id))")
    while session.poll() is None:
        pass
    assert len(target.schema().table("late").foreign_keys) == 1
    session.close()
