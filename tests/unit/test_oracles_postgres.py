"""What the walk knows of PostgreSQL: for each rule the smallest right history, and the smallest wrong one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from acidtest.model import (
    Column,
    ErrorKind,
    ForeignKey,
    History,
    Hold,
    Index,
    Judgement,
    Level,
    Row,
    Schema,
    Table,
    TransactionState,
    ViolationKind,
    WaitWitness,
)
from acidtest.model.schema import Action
from acidtest.oracles import graph
from tests.unit.told_histories import After, Script, Step, World, passes, unknown, verdict

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE
CONFLICT = ErrorKind.SERIALIZATION_FAILURE


def column(name: str, *, nullable: bool = True) -> Column:
    return Column(name, "integer", nullable)


T = Table("t", (column("id", nullable=False), column("v")), (Index("t_pkey", ("id",), True, primary=True),))
CHILD = Table(
    "c",
    (column("a", nullable=False), column("t_id")),
    (Index("c_pkey", ("a",), True, primary=True),),
    (ForeignKey("c_fk", ("t_id",), "t", ("id",)),),
)
ROWS = ((1, 10), (2, 20))
WORLD = World("postgres", Schema((T,), folds_names="lower"), {"t": ROWS}, version="18.4")
FAMILY = World("postgres", Schema((CHILD, T), folds_names="lower"), {"t": ROWS, "c": ()}, version="18.4")


def told(level: Level, *steps: Step, final: Sequence[Row] = ROWS) -> History:
    return WORLD.history(level, steps, {"t": final})


def missing(history: History) -> Hold:
    """What the statement had to wait for."""
    found = verdict(history).violation
    assert found is not None
    assert found.kind is ViolationKind.MISSING_BLOCK
    assert isinstance(found.witness, WaitWitness)
    return found.witness.hold


def broken(history: History) -> tuple[ViolationKind | None, int | None]:
    found = verdict(history)
    assert found.is_violation, found
    return found.kind, found.step


# -- row-lock modes

LOCKS = ("FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE", "FOR UPDATE")
TOGETHER = {
    ("FOR KEY SHARE", "FOR KEY SHARE"),
    ("FOR KEY SHARE", "FOR SHARE"),
    ("FOR KEY SHARE", "FOR NO KEY UPDATE"),
    ("FOR SHARE", "FOR SHARE"),
}


@pytest.mark.parametrize("first", LOCKS)
@pytest.mark.parametrize("second", LOCKS)
def test_row_locks_conflict_as_documented(first: str, second: str) -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx2", "BEGIN", None),
        ("tx1", f"SELECT * FROM t WHERE id = 1 {first}", [(1, 10)]),
        ("tx2", f"SELECT * FROM t WHERE id = 1 {second}", [(1, 10)]),
        ("tx1", "COMMIT", None),
        ("tx2", "COMMIT", None),
    )
    if (first, second) in TOGETHER or (second, first) in TOGETHER:
        assert passes(history)
    else:
        assert missing(history) is Hold.LOCKED_ROW


@pytest.mark.parametrize(
    ("write", "final", "waits"),
    [
        ("UPDATE t SET v = 11 WHERE id = 1", ((1, 11), (2, 20)), False),
        ("UPDATE t SET id = 1, v = 11 WHERE id = 1", ((1, 11), (2, 20)), False),
        ("UPDATE t SET id = 3 WHERE id = 1", ((2, 20), (3, 10)), True),
        ("DELETE FROM t WHERE id = 1", ((2, 20),), True),
    ],
)
def test_an_update_that_keeps_the_key_goes_together_with_key_share(
    write: str, final: tuple[Row, ...], waits: bool
) -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", write, 1),
        ("tx2", "SELECT * FROM t WHERE id = 1 FOR KEY SHARE", [(1, 10)]),
        ("tx1", "COMMIT", None),
        final=final,
    )
    assert passes(history) is not waits


def test_a_key_that_no_foreign_key_may_refer_to_does_not_count() -> None:
    partial = replace(T, indexes=(Index("t_pkey", ("id",), True, where="v > 0"),))
    world = replace(WORLD, schema=Schema((partial,)))
    history = world.history(
        RC,
        (
            ("tx1", "BEGIN", None),
            ("tx2", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 1 FOR KEY SHARE", [(1, 10)]),
            ("tx2", "UPDATE t SET v = 3 WHERE id = 1", 1),
            ("tx2", "COMMIT", None),
            ("tx1", "COMMIT", None),
        ),
        {"t": ((1, 3), (2, 20))},
    )
    assert passes(history)


def test_key_share_at_repeatable_read_minds_new_keys_but_no_other_change() -> None:
    def after(write: str, final: tuple[Row, ...]) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
            ("tx2", write, 1),
            ("tx1", "SELECT * FROM t WHERE id = 1 FOR KEY SHARE", [(1, 10)]),
            ("tx1", "COMMIT", None),
            final=final,
        )

    assert passes(after("UPDATE t SET v = 11 WHERE id = 1", ((1, 11), (2, 20))))
    assert broken(after("DELETE FROM t WHERE id = 1", ((2, 20),))) == (ViolationKind.WRONG_ERROR, 3)


# -- SKIP LOCKED


def skipping(seen: Sequence[Row], level: Level = RC) -> History:
    return told(
        level,
        ("tx1", "BEGIN", None),
        ("tx2", "BEGIN", None),
        ("tx1", "SELECT * FROM t WHERE id = 1 FOR UPDATE", [(1, 10)]),
        ("tx2", "SELECT * FROM t FOR UPDATE SKIP LOCKED", seen),
        ("tx1", "COMMIT", None),
        ("tx2", "COMMIT", None),
    )


@pytest.mark.parametrize("level", [RC, RR])
def test_skip_locked_gives_all_that_is_free_and_nothing_else(level: Level) -> None:
    assert passes(skipping([(2, 20)], level))
    assert broken(skipping([(1, 10), (2, 20)], level)) == (ViolationKind.WRONG_ROWS, 3)
    assert broken(skipping([], level)) == (ViolationKind.WRONG_ROWS, 3), "it skips what nobody has locked"


def test_what_skip_locked_gave_is_locked() -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t FOR UPDATE SKIP LOCKED", ROWS),
        ("tx2", "UPDATE t SET v = 0 WHERE id = 2", 1),
        ("tx1", "COMMIT", None),
        final=((1, 10), (2, 0)),
    )
    assert missing(history) is Hold.LOCKED_ROW


def test_rows_of_which_nobody_knows_who_holds_them_may_be_skipped() -> None:
    def history(seen: Sequence[Row]) -> History:
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx3", "BEGIN", None),
            ("tx3", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", "UPDATE t SET v = 0 WHERE v = 10", After(4, 0)),
            ("tx3", "COMMIT", None),
            ("tx2", "SELECT * FROM t FOR UPDATE SKIP LOCKED", seen),
            ("tx1", "COMMIT", None),
            final=((1, 11), (2, 20)),
        )

    # The row that tx1 waited for and then passed by stays locked.
    assert passes(history([(2, 20)]))
    assert passes(history([(1, 11), (2, 20)]))
    assert broken(history([(1, 10), (2, 20)])) == (ViolationKind.WRONG_ROWS, 5)


def test_skip_locked_at_repeatable_read_fails_at_a_row_that_changed() -> None:
    def history(seen: Sequence[Row] | ErrorKind) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
            ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", "SELECT * FROM t FOR UPDATE SKIP LOCKED", seen),
            ("tx1", "ROLLBACK", None),
            final=((1, 11), (2, 20)),
        )

    assert passes(history(CONFLICT))
    assert broken(history([(2, 20)])) == (ViolationKind.WRONG_ERROR, 3)


def test_skip_locked_with_a_subquery_looks_into_its_snapshot() -> None:
    def history(seen: Sequence[Row]) -> History:
        sql = "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE s.v = 20) FOR UPDATE SKIP LOCKED"
        return told(RC, ("tx1", "BEGIN", None), ("tx1", sql, seen), ("tx1", "COMMIT", None))

    assert passes(history(ROWS))
    assert broken(history([])) == (ViolationKind.WRONG_ROWS, 1)


def test_skip_locked_with_limit_takes_the_first_that_are_free() -> None:
    def history(first: Sequence[Row], second: Sequence[Row]) -> History:
        sql = "SELECT * FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx2", "BEGIN", None),
            ("tx1", "UPDATE t SET v = v WHERE id = 1", 1),
            ("tx2", sql, first),
            ("tx3", sql, second),
            ("tx1", "COMMIT", None),
            ("tx2", "COMMIT", None),
        )

    assert broken(history([(1, 10)], [])) == (ViolationKind.WRONG_ROWS, 3)
    assert broken(history([], [])) == (ViolationKind.WRONG_ROWS, 3)
    assert "which rows it reached" in unknown(history([(2, 20)], []))
    alone = told(RC, ("tx1", "SELECT * FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", [(1, 10)]))
    assert passes(alone)


# -- a statement that waited and tests again


def rechecking(sql: str, result: Sequence[Row] | int, final: Sequence[Row], other: str = "v = 11") -> History:
    return told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", f"UPDATE t SET {other} WHERE id = 1", 1),
        ("tx2", sql, After(3, result)),
        ("tx1", "COMMIT", None),
        final=final,
    )


def test_a_row_that_changed_comes_at_the_place_of_its_old_version() -> None:
    sql = "SELECT * FROM t ORDER BY v FOR UPDATE"
    changed = ((1, 30), (2, 20))
    assert passes(rechecking(sql, [(1, 30), (2, 20)], changed, "v = 30"))
    assert broken(rechecking(sql, [(1, 10), (2, 20)], changed, "v = 30")) == (ViolationKind.WRONG_ROWS, 2)


def test_a_subquery_is_tested_again_unless_the_row_fails_anyway() -> None:
    sql = "UPDATE t SET v = 0 WHERE id IN (SELECT id FROM t AS s WHERE s.v < 15) AND v < 15"
    assert passes(rechecking(sql, 1, ((1, 0), (2, 20)), "v = 11"))
    assert passes(rechecking(sql, 0, ((1, 11), (2, 20)), "v = 11")), "it may be tested beside one row only"
    assert broken(rechecking(sql, 1, ((1, 11), (2, 20)), "v = 11")) == (ViolationKind.WRONG_FINAL_STATE, None)
    locking = "SELECT * FROM t WHERE id IN (SELECT id FROM t AS s WHERE s.v < 15) FOR UPDATE"
    assert "tested again" in unknown(rechecking(locking, [(1, 11)], ((1, 11), (2, 20)), "v = 11"))
    plain = "UPDATE t SET v = 0 WHERE v < (SELECT MAX(s.a) FROM u AS s)"
    other = Table("u", (column("a"),))
    world = World("postgres", Schema((T, other)), {"t": ROWS, "u": ((15,),)})
    steps: tuple[Step, ...] = (
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 30 WHERE id = 1", 1),
        ("tx2", plain, After(3, 0)),
        ("tx1", "COMMIT", None),
    )
    assert passes(world.history(RC, steps, {"t": ((1, 30), (2, 20))}))
    wrong = (*steps[:2], ("tx2", plain, After(3, 1)), steps[3])
    assert broken(world.history(RC, wrong, {"t": ((1, 0), (2, 20))})) == (
        ViolationKind.WRONG_AFFECTED_COUNT,
        2,
    )


def test_at_repeatable_read_several_tables_are_judged_also_after_a_wait() -> None:
    def history(seen: Sequence[Row]) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx2", "SELECT a.v, b.v FROM t AS a JOIN t AS b ON a.id < b.id FOR UPDATE", After(3, seen)),
            ("tx1", "ROLLBACK", None),
        )

    assert passes(history([(10, 20)]))
    assert broken(history([(11, 20)])) == (ViolationKind.WRONG_ROWS, 2)


# -- ON CONFLICT at a snapshot


@pytest.mark.parametrize("action", ["DO NOTHING", "DO UPDATE SET v = 0"])
def test_on_conflict_fails_at_a_row_that_its_snapshot_does_not_show(action: str) -> None:
    def history(level: Level, result: int | ErrorKind, end: str, key: int = 3) -> History:
        final = ((1, 10), (2, 20), (3, 0 if result and "UPDATE" in action and level is RC else 30))
        return told(
            level,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
            ("tx2", "INSERT INTO t VALUES (3, 30)", 1),
            ("tx1", f"INSERT INTO t VALUES ({key}, 31) ON CONFLICT (id) {action}", result),
            ("tx1", end, None),
            final=final,
        )

    done = 1 if "UPDATE" in action else 0
    assert passes(history(RC, done, "COMMIT"))
    assert passes(history(RR, CONFLICT, "ROLLBACK"))
    assert [verdict(history(RR, CONFLICT, "ROLLBACK", key)).unexplained_conflicts for key in (3, 4)] == [0, 1]
    assert broken(history(RR, done, "COMMIT")) == (ViolationKind.WRONG_ERROR, 3)
    assert broken(history(SER, done, "COMMIT")) == (ViolationKind.WRONG_ERROR, 3)


# -- errors


def test_a_conflict_without_a_reason_is_counted() -> None:
    def history(write: str) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
            ("tx2", write, 1),
            ("tx1", "UPDATE t SET v = 0 WHERE id = 1", CONFLICT),
            ("tx1", "ROLLBACK", None),
            final=((1, 11), (2, 20)) if "= 1" in write else ((1, 10), (2, 21)),
        )

    explained, not_explained = (
        verdict(history(f"UPDATE t SET v = v + 1 WHERE id = {row}")) for row in (1, 2)
    )
    assert explained.unexplained_conflicts == 0
    assert not_explained.unexplained_conflicts == 1
    assert not explained.is_violation
    assert not not_explained.is_violation


def test_a_write_that_changes_nothing_is_a_conflict_like_any_other() -> None:
    def history(result: int | ErrorKind) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
            ("tx2", "UPDATE t SET v = v WHERE id = 1", 1),
            ("tx1", "UPDATE t SET v = 10 WHERE id = 1", result),
            ("tx1", "ROLLBACK", None),
        )

    assert verdict(history(CONFLICT)).unexplained_conflicts == 0
    assert passes(history(CONFLICT))
    assert broken(history(1)) == (ViolationKind.WRONG_ERROR, 3)


def test_an_error_that_nobody_has_mapped_is_unknown() -> None:
    history = told(RC, ("tx1", "UPDATE t SET v = 0", ErrorKind.OTHER))
    assert "other" in unknown(history)


def test_a_row_that_moves_between_parts_of_a_table_may_cost_a_conflict() -> None:
    parts = replace(T, children=("t1", "t2"))

    def judged(table: Table) -> bool:
        history = replace(WORLD, schema=Schema((table,))).history(
            RC, (("tx1", "UPDATE t SET v = 0 WHERE id = 1", CONFLICT),), {}
        )
        return passes(history)

    assert judged(parts)
    assert not judged(T)


# -- foreign keys


def family(level: Level, *steps: Step, c: Sequence[Row] = (), t: Sequence[Row] = ROWS) -> History:
    return FAMILY.history(level, steps, {"t": t, "c": c})


def test_a_row_needs_its_parent() -> None:
    insert = "INSERT INTO c VALUES (1, {})"
    assert passes(family(RC, ("tx1", insert.format(1), 1), c=((1, 1),)))
    assert passes(family(RC, ("tx1", insert.format(9), ErrorKind.FOREIGN_KEY)))
    assert broken(family(RC, ("tx1", insert.format(9), 1), c=((1, 9),))) == (ViolationKind.WRONG_ERROR, 0)
    assert broken(family(RC, ("tx1", insert.format(1), ErrorKind.FOREIGN_KEY))) == (
        ViolationKind.WRONG_ERROR,
        0,
    )


@pytest.mark.parametrize(
    ("write", "t", "waits"),
    [
        ("UPDATE t SET v = 0 WHERE id = 1", ((1, 0), (2, 20)), False),
        ("DELETE FROM t WHERE id = 1", ((2, 20),), True),
    ],
)
def test_a_new_row_holds_the_key_of_its_parent(write: str, t: tuple[Row, ...], waits: bool) -> None:
    history = family(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "INSERT INTO c VALUES (1, 1)", 1),
        ("tx2", write, 1),
        ("tx1", "ROLLBACK", None),
        t=t,
    )
    if waits:
        assert missing(history) is Hold.LOCKED_ROW
    else:
        assert passes(history)


def test_a_new_row_waits_for_who_deletes_its_parent() -> None:
    history = family(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "DELETE FROM t WHERE id = 1", 1),
        ("tx2", "INSERT INTO c VALUES (1, 1)", 1),
        ("tx1", "ROLLBACK", None),
        c=((1, 1),),
    )
    assert missing(history) in (Hold.LOCKED_ROW, Hold.WRITTEN_ROW)


def test_cascades_are_followed_and_lock_what_they_change() -> None:
    cascading = replace(CHILD, foreign_keys=(replace(CHILD.foreign_keys[0], on_delete=Action.CASCADE),))
    world = World("postgres", Schema((cascading, T)), {"t": ROWS, "c": ((1, 1),)})
    delete: Step = ("tx1", "DELETE FROM t WHERE id = 1", 1)
    left = ((2, 20),)
    assert passes(world.history(RC, (delete,), {"t": left, "c": ()}))
    assert broken(world.history(RC, (delete,), {"t": left})) == (ViolationKind.WRONG_FINAL_STATE, None)
    locked = world.history(
        RC,
        (
            ("tx1", "BEGIN", None),
            delete,
            ("tx2", "SELECT a FROM c FOR UPDATE", [(1,)]),
            ("tx1", "COMMIT", None),
        ),
        {"t": left, "c": ()},
    )
    assert missing(locked) is Hold.WRITTEN_ROW


def test_what_a_foreign_key_finds_beyond_the_snapshot_is_unknown() -> None:
    history = family(
        RR,
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM c", []),
        ("tx2", "INSERT INTO t VALUES (3, 30)", 1),
        ("tx1", "INSERT INTO c VALUES (1, 3)", ErrorKind.FOREIGN_KEY),
        ("tx1", "ROLLBACK", None),
        t=(*ROWS, (3, 30)),
    )
    assert "foreign keys" in unknown(history)


# -- what is not followed


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT tableoid FROM t", "a system column"),
        ("UPDATE t SET v = 0 WHERE ctid = '(0,1)'", "a system column"),
        ("SELECT f(v) FROM t", "a function of the case's own"),
        ("SELECT * FROM w", "a table that is not one of the case"),
        ("WITH x AS (DELETE FROM t), y AS (DELETE FROM t) SELECT 1", "a write inside of a query"),
        ("WITH x AS (SELECT * FROM t FOR UPDATE) SELECT * FROM x", "locks inside of a query"),
        ("SELECT * FROM ONLY t", "ONLY a part of a table"),
        ("UPDATE t SET v = 1", "triggers and rules"),
    ],
)
def test_statements_that_do_more_than_they_say_are_unknown(sql: str, reason: str) -> None:
    table = replace(
        T,
        children=("t1",) if "ONLY" in sql else (),
        triggers=("trg",) if "triggers" in reason else (),
    )
    world = replace(WORLD, schema=Schema((table,), views=("w",), functions=("f",)))
    assert unknown(world.history(RC, (("tx1", sql, [(1, 10)]),), {})) == reason
    assert unknown(world.history(RC, (("tx1", sql, ErrorKind.DUPLICATE_KEY),), {})) == reason
    assert passes(world.history(RC, (("tx1", sql, ErrorKind.NO_SUCH_OBJECT),), {}))


def test_names_that_are_not_quoted_are_folded() -> None:
    assert passes(told(RC, ("tx1", "SELECT * FROM T", ROWS)))
    assert broken(told(RC, ("tx1", "SELECT * FROM T", ROWS[:1]))) == (ViolationKind.WRONG_ROWS, 0)
    assert "not one of the case" in unknown(told(RC, ("tx1", 'SELECT * FROM "T"', ROWS)))


# -- other statements

WRONG_READ: Step = ("tx1", "SELECT * FROM t", [(1, 10)])


@pytest.mark.parametrize(
    "sql",
    [
        "SET lock_timeout = '1s'",
        "SET LOCAL enable_seqscan = off",
        "SET SESSION work_mem TO '4MB'",
        "RESET statement_timeout",
        "SHOW server_version",
        "SET ROLE somebody",
        "RESET ROLE",
        "GRANT SELECT ON t TO somebody",
        "EXPLAIN SELECT * FROM t",
        "ANALYZE t",
        "VACUUM",
        "CHECKPOINT",
        "PREPARE p AS SELECT 1",
        "SELECT pg_sleep(0.1)",
        "CREATE INDEX i ON t (v)",
        "DROP INDEX i",
        "SELECT pg_advisory_lock(1)",
    ],
)
def test_what_changes_no_result_is_passed_over(sql: str) -> None:
    assert passes(told(RC, ("tx1", sql, None), ("tx1", "SELECT * FROM t", ROWS)))
    assert broken(told(RC, ("tx1", sql, None), WRONG_READ)) == (ViolationKind.WRONG_ROWS, 1)


@pytest.mark.parametrize(
    "sql",
    [
        "SET search_path = other",
        "SET TIME ZONE 'UTC'",
        "EXPLAIN ANALYZE DELETE FROM t",
        "CREATE UNIQUE INDEX i ON t (v)",
        "DROP INDEX t_pkey",
        "EXECUTE p",
        "CALL p()",
    ],
)
def test_what_may_change_anything_makes_the_rest_unknown(sql: str) -> None:
    assert unknown(told(RC, ("tx1", sql, None), WRONG_READ))


def test_to_be_somebody_else_may_mean_other_tables() -> None:
    steps = (("tx1", "SET ROLE somebody", None), WRONG_READ)
    assert unknown(WORLD.history(RC, steps, {}, "CREATE SCHEMA somebody;"))


def test_ddl_takes_effect_when_it_is_launched_not_when_it_completes() -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT * FROM t", ROWS),
        ("tx2", "ALTER TABLE t DETACH PARTITION t1 CONCURRENTLY", After(4, None)),
        ("tx1", "SELECT * FROM t", ROWS[:1]),
        ("tx1", "COMMIT", None),
    )
    assert "inside the schedule" in unknown(history)
    refused = told(RC, ("tx1", "ALTER TABLE t ADD COLUMN v INT", ErrorKind.OBJECT_EXISTS), WRONG_READ)
    assert broken(refused) == (ViolationKind.WRONG_ROWS, 1)


def test_a_procedure_that_only_reads_is_passed_over() -> None:
    def history(body: str) -> History:
        setup = f"CREATE PROCEDURE p() LANGUAGE SQL AS '{body}';"
        return WORLD.history(RC, (("tx1", "CALL p()", None), WRONG_READ), {}, setup)

    assert broken(history("SELECT v FROM t")) == (ViolationKind.WRONG_ROWS, 1)
    assert unknown(history("DELETE FROM t"))


# -- writes inside of queries


def both(sql: str, result: Sequence[Row] | int, c: Sequence[Row] = (), t: Sequence[Row] = ROWS) -> History:
    loose = World(
        "postgres",
        Schema((replace(CHILD, foreign_keys=()), T), folds_names="lower"),
        {"t": ROWS, "c": ((5, 1),)},
        version="18.4",
    )
    return loose.history(RC, (("tx1", sql, result),), {"t": t, "c": ((5, 1), *c)})


def test_a_query_sees_what_was_there_before_the_writes_inside_of_it() -> None:
    write = "UPDATE t SET v = 11 WHERE id = 1 RETURNING id, v"
    sql = f"WITH x AS ({write}) SELECT t.v, x.v FROM t JOIN x USING (id)"
    new = ((1, 11), (2, 20))
    assert passes(both(sql, [(10, 11)], t=new))
    assert broken(both(sql, [(11, 11)], t=new)) == (ViolationKind.WRONG_ROWS, 0)
    assert broken(both(sql, [(10, 11)])) == (ViolationKind.WRONG_FINAL_STATE, None)


@pytest.mark.parametrize(
    "returning", ["RETURNING *", "RETURNING t.*", "RETURNING id, v", "RETURNING t.id AS one, v AS other"]
)
def test_what_a_write_returns_may_be_written_elsewhere(returning: str) -> None:
    sql = f"WITH x AS (DELETE FROM t WHERE id = 1 {returning}) INSERT INTO c SELECT * FROM x"
    assert passes(both(sql, 1, c=((1, 10),), t=ROWS[1:]))
    assert broken(both(sql, 2, c=((1, 10),), t=ROWS[1:])) == (ViolationKind.WRONG_AFFECTED_COUNT, 0)
    assert broken(both(sql, 1, c=((1, 11),), t=ROWS[1:])) == (ViolationKind.WRONG_FINAL_STATE, None)
    nothing = sql.replace("id = 1", "id = 9")
    assert passes(both(nothing, 0))


def test_several_tables_may_be_written_at_once() -> None:
    sql = "WITH x AS (UPDATE t SET v = 0), y AS (DELETE FROM c RETURNING a) SELECT count(*) FROM y"
    history = both(sql, [(1,)], t=((1, 0), (2, 0)))
    assert broken(history) == (ViolationKind.WRONG_FINAL_STATE, None)
    assert history.final is not None
    assert passes(replace(history, final={**history.final, "c": ()}))


def test_a_write_inside_waits_like_any_other() -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", "WITH x AS (DELETE FROM t WHERE id = 1 RETURNING id) SELECT id FROM x", [(1,)]),
    )
    assert missing(history) is Hold.WRITTEN_ROW


def test_writes_inside_that_have_to_do_with_each_other_are_unknown() -> None:
    parent = "WITH x AS (INSERT INTO t VALUES (3, 30)) INSERT INTO c VALUES (1, 3)"
    assert "with each other" in unknown(family(RC, ("tx1", parent, 1)))
    looking = "WITH x AS (DELETE FROM c RETURNING a) UPDATE t SET v = (SELECT count(*) FROM c)"
    assert "with each other" in unknown(both(looking, 2))
    computed = "WITH x AS (DELETE FROM t RETURNING v + 1) SELECT * FROM x"
    assert "an expression" in unknown(both(computed, [(11,), (21,)], t=()))


# -- prepared statements and scripts


@pytest.mark.parametrize(
    ("prepare", "execute"),
    [
        ("PREPARE p AS UPDATE t SET v = 11 WHERE id = 1", "EXECUTE p"),
        ("PREPARE p (int, int) AS UPDATE t SET v = $2 WHERE id = $1", "EXECUTE p(1, 11)"),
        ("PREPARE p AS UPDATE t SET v = $2 WHERE id = $1", "EXECUTE p (1, 11)"),
    ],
)
def test_execute_is_judged_as_the_statement_that_was_prepared(prepare: str, execute: str) -> None:
    def history(count: int, seen: Sequence[Row]) -> History:
        return told(
            RC,
            ("tx1", prepare, None),
            ("tx1", execute, count),
            ("tx2", "SELECT * FROM t WHERE id = 1", seen),
            final=((1, 11), (2, 20)),
        )

    assert passes(history(1, [(1, 11)]))
    assert broken(history(2, [(1, 11)])) == (ViolationKind.WRONG_AFFECTED_COUNT, 1)
    assert broken(history(1, [(1, 10)])) == (ViolationKind.WRONG_ROWS, 2)


@pytest.mark.parametrize(
    ("prepare", "execute"),
    [
        ("PREPARE q AS UPDATE t SET v = 11", "EXECUTE p"),
        ("PREPARE p AS UPDATE t SET v = $1", "EXECUTE p(now())"),
        ("PREPARE p AS UPDATE t SET v = $1", "EXECUTE p(1.5)"),
        ("PREPARE p AS UPDATE t SET v = $1", "EXECUTE p"),
    ],
)
def test_what_execute_does_may_not_be_known(prepare: str, execute: str) -> None:
    assert unknown(told(RC, ("tx1", prepare, None), ("tx1", execute, 1), WRONG_READ))


def test_a_statement_is_prepared_for_its_own_session_until_it_is_given_up() -> None:
    prepare = ("tx1", "PREPARE p AS SELECT * FROM t", None)
    assert broken(told(RC, prepare, ("tx1", "EXECUTE p", [(1, 10)]))) == (ViolationKind.WRONG_ROWS, 1)
    assert unknown(told(RC, prepare, ("tx2", "EXECUTE p", [(1, 10)])))
    given_up = ("tx1", "DEALLOCATE p", None)
    assert unknown(told(RC, prepare, given_up, ("tx1", "EXECUTE p", [(1, 10)])))


BOTH = "UPDATE t SET v = 11 WHERE id = 1; UPDATE t SET v = 21 WHERE id = 2"
CHANGED = ((1, 11), (2, 21))


def test_a_script_is_judged_statement_by_statement() -> None:
    assert passes(told(RC, ("tx1", BOTH, Script(1, 1)), final=CHANGED))
    assert broken(told(RC, ("tx1", BOTH, Script(1, 2)), final=CHANGED)) == (
        ViolationKind.WRONG_AFFECTED_COUNT,
        0,
    )
    read = "UPDATE t SET v = 11 WHERE id = 1; SELECT * FROM t"
    assert passes(told(RC, ("tx1", read, Script(1, [(1, 11), (2, 20)])), final=((1, 11), (2, 20))))
    assert broken(told(RC, ("tx1", read, Script(1, ROWS)), final=((1, 11), (2, 20)))) == (
        ViolationKind.WRONG_ROWS,
        0,
    )


def test_a_script_outside_a_block_is_one_transaction() -> None:
    failing = "UPDATE t SET v = 11 WHERE id = 1; INSERT INTO t VALUES (2, 0)"
    step = ("tx1", failing, Script(1, ErrorKind.DUPLICATE_KEY))
    assert passes(told(RC, step))
    assert broken(told(RC, step, final=((1, 11), (2, 20)))) == (ViolationKind.WRONG_FINAL_STATE, None)


def test_a_begin_takes_what_stands_before_it_into_its_transaction() -> None:
    script = "UPDATE t SET v = 11 WHERE id = 1; BEGIN; UPDATE t SET v = 21 WHERE id = 2"
    begun = ("tx1", script, Script(1, None, 1, after=TransactionState.OPEN))
    assert passes(told(RC, begun, ("tx1", "ROLLBACK", None)))
    assert broken(told(RC, begun, ("tx1", "ROLLBACK", None), final=((1, 11), (2, 20)))) == (
        ViolationKind.WRONG_FINAL_STATE,
        None,
    )
    ended = "BEGIN; UPDATE t SET v = 11 WHERE id = 1; COMMIT; UPDATE t SET v = 21 WHERE id = 2"
    assert passes(told(RC, ("tx1", ended, Script(None, 1, None, 1)), final=CHANGED))


def test_scripts_that_cannot_be_taken_apart_are_unknown() -> None:
    held = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx2", BOTH, After(3, Script(1, 1))),
        ("tx1", "COMMIT", None),
        final=CHANGED,
    )
    assert "waited" in unknown(held)
    level = "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM t; COMMIT"
    assert "how its transactions run" in unknown(told(RC, ("tx1", level, Script(None, ROWS, None))))


# -- columns that are added

WIDE = ((1, 10, 5), (2, 20, 5))


def test_rows_hold_the_default_of_a_new_column() -> None:
    add = ("tx1", "ALTER TABLE t ADD COLUMN w INT DEFAULT 5", None)
    assert passes(told(RC, add, ("tx2", "SELECT * FROM t", WIDE), final=WIDE))
    assert broken(told(RC, add, ("tx2", "SELECT * FROM t", [(1, 10, 5), (2, 20, None)]), final=WIDE)) == (
        ViolationKind.WRONG_ROWS,
        1,
    )
    without = ("tx1", "ALTER TABLE T ADD W INT", None)
    written = ("tx2", "UPDATE t SET w = v WHERE id = 1", 1)
    inserted = ("tx2", "INSERT INTO t (id, w) VALUES (3, 7)", 1)
    new = ((1, 10, 10), (2, 20, None), (3, None, 7))
    assert passes(told(RC, without, written, inserted, final=new))
    assert broken(told(RC, without, written, inserted, final=WIDE)) == (
        ViolationKind.WRONG_FINAL_STATE,
        None,
    )


def adding(seen: Sequence[Row], waits: bool = True) -> History:
    return told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "ALTER TABLE t ADD COLUMN w INT DEFAULT 5", None),
        ("tx1", "UPDATE t SET w = 6 WHERE id = 1", 1),
        ("tx2", "SELECT * FROM t", After(4, seen) if waits else seen),
        ("tx1", "ROLLBACK", None),
        ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
        final=((1, 11), (2, 20)),
    )


def test_a_column_that_is_taken_back_was_never_there() -> None:
    assert passes(adding(ROWS))
    assert broken(adding(WIDE)) == (ViolationKind.WRONG_ROWS, 3)
    assert missing(adding(ROWS, waits=False)) is Hold.TABLE


def test_who_adds_a_column_waits_for_those_who_work_on_the_table() -> None:
    def history(result: After | None) -> History:
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT * FROM t", ROWS),
            ("tx2", "ALTER TABLE t ADD COLUMN w INT", result),
            ("tx1", "COMMIT", None),
            final=((1, 10, None), (2, 20, None)),
        )

    assert passes(history(After(3, None)))
    assert missing(history(None)) is Hold.TABLE


def test_a_snapshot_that_is_older_than_a_rewritten_table_is_unknown() -> None:
    def history(definition: str, seen: Sequence[Row]) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", "SELECT 1", [(1,)]),
            ("tx2", f"ALTER TABLE t ADD COLUMN w INT {definition}", None),
            ("tx1", "SELECT * FROM t", seen),
            ("tx1", "COMMIT", None),
            final=seen,
        )

    assert passes(history("", ((1, 10, None), (2, 20, None))))
    assert "rewritten" in unknown(history("DEFAULT 5", WIDE))


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t ADD COLUMN w INT UNIQUE",
        "ALTER TABLE t ADD COLUMN w INT DEFAULT random()",
        "ALTER TABLE t ADD COLUMN w INT, ADD COLUMN x INT",
        "ALTER TABLE t ADD COLUMN w INT NOT NULL",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (v > 0)",
        "ALTER TABLE u ADD COLUMN w INT",
    ],
)
def test_other_changes_of_tables_are_unknown(sql: str) -> None:
    assert unknown(told(RC, ("tx1", sql, None), WRONG_READ))


# -- constraints and triggers that come and go

ADD_KEY = "ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (t_id) REFERENCES t (id) NOT VALID"


def related(*steps: Step, c: Sequence[Row] = ((5, 1),), triggers: tuple[str, ...] = ()) -> History:
    schema = Schema(
        (replace(CHILD, foreign_keys=()), replace(T, triggers=triggers)),
        folds_names="lower",
    )
    world = World("postgres", schema, {"t": ROWS, "c": ((5, 1),)}, version="18.4")
    setup = (
        "CREATE FUNCTION f() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END;';\n"
        "CREATE FUNCTION g() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN DELETE FROM c; RETURN NULL; END;';\n"
        "CREATE TRIGGER idle AFTER UPDATE ON t EXECUTE PROCEDURE f();\n"
        "CREATE TRIGGER busy AFTER UPDATE ON t EXECUTE PROCEDURE g();"
    )
    return world.history(RC, steps, {"c": c}, setup)


def test_a_foreign_key_that_is_added_holds_for_new_rows() -> None:
    add = ("tx1", ADD_KEY, None)
    assert passes(related(add, ("tx2", "INSERT INTO c VALUES (6, 9)", ErrorKind.FOREIGN_KEY)))
    wrong = related(add, ("tx2", "INSERT INTO c VALUES (6, 9)", 1), c=((5, 1), (6, 9)))
    assert broken(wrong) == (ViolationKind.WRONG_ERROR, 1)
    taken_back = (("tx1", "BEGIN", None), add, ("tx1", "ROLLBACK", None))
    assert passes(related(*taken_back, ("tx2", "INSERT INTO c VALUES (6, 9)", 1), c=((5, 1), (6, 9))))


@pytest.mark.parametrize(
    ("sql", "waits"),
    [
        ("INSERT INTO c VALUES (6, 1)", True),
        ("DELETE FROM t WHERE id = 9", True),
        ("SELECT * FROM c FOR UPDATE", False),
    ],
)
def test_who_adds_a_foreign_key_keeps_writers_away_from_both_tables(sql: str, waits: bool) -> None:
    result = [(5, 1)] if sql.startswith("SELECT") else int(sql.startswith("INSERT"))
    history = related(
        ("tx1", "BEGIN", None),
        ("tx1", ADD_KEY, None),
        ("tx2", sql, result),
        ("tx1", "COMMIT", None),
        c=((5, 1), (6, 1)) if sql.startswith("INSERT") else ((5, 1),),
    )
    if waits:
        assert missing(history) is Hold.TABLE
    else:
        assert passes(history)


def test_a_constraint_is_valid_only_if_all_rows_are() -> None:
    validate = ("tx1", "ALTER TABLE c VALIDATE CONSTRAINT fk", None)
    assert passes(related(("tx1", ADD_KEY, None), validate))
    orphan = ("tx1", "INSERT INTO c VALUES (6, 9)", 1)
    wrong = related(orphan, ("tx1", ADD_KEY, None), validate, c=((5, 1), (6, 9)))
    assert broken(wrong) == (ViolationKind.WRONG_ERROR, 2)
    assert unknown(related(validate))


UPDATED = ("tx1", "UPDATE t SET v = v", 2)


def test_a_trigger_that_does_nothing_changes_nothing() -> None:
    assert passes(related(UPDATED, triggers=("idle",)))
    assert "triggers" in unknown(related(UPDATED, triggers=("idle", "busy")))
    assert passes(related(("tx1", "ALTER TABLE t DISABLE TRIGGER idle", None), UPDATED, triggers=("idle",)))
    assert unknown(related(("tx1", "ALTER TABLE t DISABLE TRIGGER busy", None), triggers=("busy",)))
    assert unknown(related(("tx1", 'ALTER TABLE c DISABLE TRIGGER "RI_ConstraintTrigger_c_1"', None)))
    create = "CREATE TRIGGER new AFTER INSERT ON c FOR EACH ROW EXECUTE FUNCTION"
    insert = ("tx2", "INSERT INTO c VALUES (6, 1)", 1)
    assert passes(related(("tx1", f"{create} f()", None), insert, c=((5, 1), (6, 1))))
    assert unknown(related(("tx1", f"{create} g()", None), insert, c=((6, 1),)))
    held = related(("tx1", "BEGIN", None), ("tx1", f"{create} f()", None), insert, c=((5, 1), (6, 1)))
    assert missing(held) is Hold.TABLE


# -- two-phase commit


def prepared(end: str, seen: Sequence[Row], level: Level = RC, final: Sequence[Row] = ROWS) -> History:
    return told(
        level,
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
        ("tx1", "PREPARE TRANSACTION 'one'", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx2", f"{end} PREPARED 'one'", None),
        ("tx1", "SELECT * FROM t WHERE id = 1", seen),
        final=final,
    )


def test_a_prepared_transaction_ends_when_anybody_says_so() -> None:
    new = ((1, 11), (2, 20))
    assert passes(prepared("COMMIT", [(1, 11)], final=new))
    assert passes(prepared("ROLLBACK", [(1, 10)]))
    assert broken(prepared("COMMIT", [(1, 10)], final=new)) == (ViolationKind.WRONG_ROWS, 5)
    assert broken(prepared("ROLLBACK", [(1, 10)], final=new)) == (ViolationKind.WRONG_FINAL_STATE, None)


def test_a_prepared_transaction_keeps_its_locks() -> None:
    def history(result: int | After) -> History:
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", "PREPARE TRANSACTION 'one'", None),
            ("tx2", "UPDATE t SET v = v + 1 WHERE id = 1", result),
            ("tx1", "COMMIT PREPARED 'one'", None),
            final=((1, 12), (2, 20)),
        )

    assert passes(history(After(4, 1)))
    assert missing(history(1)) is Hold.WRITTEN_ROW


# -- levels of single transactions


@pytest.mark.parametrize(
    ("begin", "setting"),
    [
        ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SHOW lock_timeout"),
        ("BEGIN", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
    ],
)
def test_a_transaction_is_judged_by_its_own_level(begin: str, setting: str) -> None:
    def history(second: Sequence[Row]) -> History:
        return told(
            RC,
            ("tx1", begin, None),
            ("tx1", setting, None),
            ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
            ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", "SELECT * FROM t WHERE id = 1", second),
            ("tx1", "COMMIT", None),
            ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 11)]),
            final=((1, 11), (2, 20)),
        )

    assert passes(history([(1, 10)]))
    assert broken(history([(1, 11)])) == (ViolationKind.WRONG_ROWS, 4)


def write_skew(begin: str) -> History:
    return told(
        RC,
        ("tx1", begin, None),
        ("tx2", begin, None),
        ("tx1", "SELECT * FROM t WHERE id = 1", [(1, 10)]),
        ("tx2", "SELECT * FROM t WHERE id = 2", [(2, 20)]),
        ("tx1", "UPDATE t SET v = 0 WHERE id = 2", 1),
        ("tx2", "UPDATE t SET v = 0 WHERE id = 1", 1),
        ("tx1", "COMMIT", None),
        ("tx2", "COMMIT", None),
        final=((1, 0), (2, 0)),
    )


def test_cycles_are_held_against_the_levels_of_the_transactions() -> None:
    snapshot = graph.judge(write_skew("BEGIN ISOLATION LEVEL REPEATABLE READ"))
    serializable = graph.judge(write_skew("BEGIN ISOLATION LEVEL SERIALIZABLE"))
    assert snapshot is not None
    assert not snapshot.is_violation
    assert serializable is not None
    assert serializable.kind is ViolationKind.FORBIDDEN_PHENOMENON


def test_a_sum_depends_on_the_rows_that_it_sums_up() -> None:
    def history(first: str, second: str, final: Sequence[Row]) -> History:
        return told(
            SER,
            ("tx1", "BEGIN", None),
            ("tx2", "BEGIN", None),
            ("tx1", "SELECT sum(v) FROM t WHERE id = 1", [(10,)]),
            ("tx2", "SELECT count(*), max(v) FROM t WHERE id = 2", [(1, 20)]),
            ("tx1", first, 1),
            ("tx2", second, 1),
            ("tx1", "COMMIT", None),
            ("tx2", "COMMIT", None),
            final=final,
        )

    one, other = "UPDATE t SET v = 0 WHERE id = 2", "UPDATE t SET v = 0 WHERE id = 1"
    skewed = graph.judge(history(one, other, ((1, 0), (2, 0))))
    assert skewed is not None
    assert skewed.kind is ViolationKind.FORBIDDEN_PHENOMENON
    one, other = "INSERT INTO t VALUES (3, 30)", "INSERT INTO t VALUES (4, 40)"
    apart = graph.judge(history(one, other, (*ROWS, (3, 30), (4, 40))))
    assert apart is not None
    assert apart.judgement is Judgement.PASS


def test_a_deferrable_snapshot_may_be_as_late_as_the_wait_was_long() -> None:
    def history(begin: str, first: Sequence[Row], second: Sequence[Row]) -> History:
        return told(
            SER,
            ("tx1", "BEGIN", None),
            ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx2", begin, None),
            ("tx2", "SELECT * FROM t WHERE id = 1", After(4, first)),
            ("tx1", "COMMIT", None),
            ("tx2", "SELECT * FROM t WHERE id = 1", second),
            ("tx2", "COMMIT", None),
            final=((1, 11), (2, 20)),
        )

    late = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE"
    old, new = [(1, 10)], [(1, 11)]
    assert passes(history(late, old, old))
    assert passes(history(late, new, new))
    assert broken(history(late, old, new)) == (ViolationKind.WRONG_ROWS, 5)
    assert broken(history("BEGIN", new, new)) == (ViolationKind.WRONG_ROWS, 3)


def test_lock_table_and_show_open_no_snapshot() -> None:
    def history(first: str, seen: Sequence[Row]) -> History:
        return told(
            RR,
            ("tx1", "BEGIN", None),
            ("tx1", first, None),
            ("tx2", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx1", "SELECT * FROM t WHERE id = 1", seen),
            ("tx1", "COMMIT", None),
            final=((1, 11), (2, 20)),
        )

    for first in ("LOCK TABLE t IN ACCESS SHARE MODE", "SHOW lock_timeout", "SET lock_timeout = 1"):
        assert passes(history(first, [(1, 11)])), first
        assert broken(history(first, [(1, 10)])) == (ViolationKind.WRONG_ROWS, 3)
    for first in ("SELECT pg_advisory_xact_lock(1)", "EXPLAIN SELECT 1"):
        assert passes(history(first, [(1, 10)])), first
        assert broken(history(first, [(1, 11)])) == (ViolationKind.WRONG_ROWS, 3)


# -- locks of tables, and advisory ones


@pytest.mark.parametrize(
    ("mode", "sql", "result", "waits"),
    [
        ("", "SELECT * FROM t", ROWS, True),
        ("IN EXCLUSIVE MODE", "SELECT * FROM t", ROWS, False),
        ("IN EXCLUSIVE MODE", "SELECT * FROM t FOR SHARE", ROWS, True),
        ("IN SHARE MODE", "SELECT * FROM t FOR SHARE", ROWS, False),
        ("IN SHARE MODE", "UPDATE t SET v = v", 2, True),
        ("IN ROW EXCLUSIVE MODE", "UPDATE t SET v = v", 2, False),
        ("IN SHARE MODE", "CREATE INDEX i ON t (v)", None, False),
        ("IN ROW EXCLUSIVE MODE", "CREATE INDEX i ON t (v)", None, True),
    ],
)
def test_a_locked_table_keeps_statements_out(
    mode: str, sql: str, result: Sequence[Row] | int | None, waits: bool
) -> None:
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx2", "BEGIN", None),
        ("tx1", f"LOCK TABLE t {mode}".strip(), None),
        ("tx2", sql, result),
        ("tx2", "COMMIT", None),
        ("tx1", "COMMIT", None),
    )
    if waits:
        assert missing(history) is Hold.TABLE
    else:
        assert passes(history)


def test_who_waited_for_a_table_sees_what_was_done_to_it_meanwhile() -> None:
    def history(level: Level, sql: str, result: Sequence[Row] | int, final: Sequence[Row]) -> History:
        return told(
            level,
            ("tx1", "BEGIN", None),
            ("tx1", "LOCK TABLE t", None),
            ("tx1", "UPDATE t SET v = 11 WHERE id = 1", 1),
            ("tx2", sql, After(4, result)),
            ("tx1", "COMMIT", None),
            final=final,
        )

    new = ((1, 11), (2, 20))
    assert passes(history(RC, "SELECT * FROM t", new, new))
    assert broken(history(RC, "SELECT * FROM t", [(1, 12), (2, 20)], new)) == (ViolationKind.WRONG_ROWS, 3)
    assert passes(history(RC, "UPDATE t SET v = 12 WHERE v = 11", 1, ((1, 12), (2, 20))))
    assert broken(history(RC, "UPDATE t SET v = 12 WHERE v = 11", 2, ((1, 12), (2, 12)))) == (
        ViolationKind.WRONG_AFFECTED_COUNT,
        3,
    )


def test_lock_table_waits_for_those_who_work_on_it() -> None:
    def history(mode: str) -> History:
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx2", "BEGIN", None),
            ("tx1", "UPDATE t SET v = v WHERE id = 1", 1),
            ("tx2", f"LOCK t IN {mode} MODE", None),
            ("tx2", "COMMIT", None),
            ("tx1", "COMMIT", None),
        )

    assert missing(history("SHARE")) is Hold.TABLE
    assert passes(history("ROW EXCLUSIVE"))


def test_an_advisory_lock_is_one_for_all() -> None:
    def history(first: str, second: str, answer: Sequence[Row]) -> History:
        return told(
            RC,
            ("tx1", "BEGIN", None),
            ("tx1", f"SELECT {first}", [("",)]),
            ("tx2", f"SELECT {second}", answer),
            ("tx1", "COMMIT", None),
        )

    assert missing(history("pg_advisory_lock(1)", "pg_advisory_lock(1)", [("",)])) is Hold.ADVISORY
    assert missing(history("pg_advisory_xact_lock(1, 2)", "pg_advisory_lock(1, 2)", [("",)])) is Hold.ADVISORY
    assert passes(history("pg_advisory_lock(1)", "pg_advisory_lock(2)", [("",)]))
    assert passes(history("pg_advisory_lock_shared(1)", "pg_advisory_lock_shared(1)", [("",)]))
    assert passes(history("pg_advisory_lock(1)", "pg_try_advisory_lock(1)", [(False,)]))
    assert broken(history("pg_advisory_lock(1)", "pg_try_advisory_lock(1)", [(True,)])) == (
        ViolationKind.WRONG_ROWS,
        2,
    )


# -- TRUNCATE


def truncating(level: Level, seen: Sequence[Row], end: str = "COMMIT") -> History:
    return told(
        level,
        ("tx1", "BEGIN", None),
        ("tx1", "TRUNCATE t", None),
        ("tx2", "SELECT * FROM t", After(3, seen)),
        ("tx1", end, None),
        final=() if end == "COMMIT" else ROWS,
    )


def test_truncate_empties_a_table_unless_it_is_taken_back() -> None:
    assert passes(truncating(RC, ROWS, "ROLLBACK"))
    assert broken(truncating(RC, [], "ROLLBACK")) == (ViolationKind.WRONG_ROWS, 2)
    assert passes(truncating(RC, []))
    assert broken(truncating(RC, ROWS[:1])) == (ViolationKind.WRONG_ROWS, 2)
    own = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "TRUNCATE TABLE t", None),
        ("tx1", "SELECT * FROM t", []),
        ("tx1", "COMMIT", None),
        final=(),
    )
    assert passes(own)
    assert broken(replace(own, final={"t": ROWS})) == (ViolationKind.WRONG_FINAL_STATE, None)


def test_a_snapshot_older_than_truncate_is_unknown() -> None:
    history = told(
        RR,
        ("tx1", "BEGIN", None),
        ("tx1", "SELECT pg_sleep(0)", [("",)]),
        ("tx2", "TRUNCATE t", None),
        ("tx1", "SELECT * FROM t", []),
        ("tx1", "COMMIT", None),
        final=(),
    )
    assert "older than a TRUNCATE" in unknown(history)


def test_a_row_that_is_gone_after_the_wait_is_not_expected_although_a_subquery_saw_it() -> None:
    sql = "SELECT * FROM t WHERE id = (SELECT MIN(id) FROM t) FOR SHARE"
    history = told(
        RC,
        ("tx1", "BEGIN", None),
        ("tx1", "DELETE FROM t WHERE id = 1", 1),
        ("tx2", sql, After(3, [])),
        ("tx1", "COMMIT", None),
        final=((2, 20),),
    )
    assert "reads its table in a subquery" in unknown(history)


@pytest.mark.parametrize("taken_back", ["UPDATE t SET v = 11 WHERE id = 1", "DELETE FROM t WHERE id = 1"])
def test_what_was_seen_before_it_was_taken_back_is_no_inconsistency(taken_back: str) -> None:
    seen = [] if taken_back.startswith("DELETE") else [(1, 11)]
    history = told(
        SER,
        ("tx1", "BEGIN", None),
        ("tx1", "UPDATE t SET v = 12 WHERE id = 1", 1),
        ("tx1", "SAVEPOINT s", None),
        ("tx1", taken_back, 1),
        ("tx1", "SELECT * FROM t WHERE id = 1", seen),
        ("tx1", "ROLLBACK TO SAVEPOINT s", None),
        ("tx1", "COMMIT", None),
        final=((1, 12), (2, 20)),
    )
    said = graph.judge(history)
    assert said is not None
    assert said.judgement is Judgement.PASS
