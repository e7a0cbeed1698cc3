"""TxCheck's seven dependencies between statements: one example each (its Figure 3), from a run's trace."""

import pytest

from acidtest.casefile import parse_case
from acidtest.execute import Executor
from acidtest.graph import project, statement_dependencies
from acidtest.model import DependencyKind as Between
from acidtest.model import Level, StatementDependency, Trace
from acidtest.model import StatementDependencyKind as Kind
from acidtest.model.trace import (
    INITIAL_WRITER,
    Fate,
    ObjectId,
    PredicateRead,
    Read,
    TraceVersion,
    TxTrace,
    Write,
)
from acidtest.oracles.walks import HistoryWalk
from acidtest.targets.resolve import open_target

RC, RR = Level.READ_COMMITTED, Level.REPEATABLE_READ


def trace_of(script: str, level: Level = RC) -> Trace:
    lines = [line.strip() for line in script.strip().splitlines()]
    schedule = "\n".join(f"/* tx{line[0]} */ {line[2:]};" for line in lines)
    setup = "CREATE TABLE t (id INT PRIMARY KEY, value INT); INSERT INTO t VALUES (0, 0);"
    case = parse_case(f"-- level: {level.value}\n-- setup\n{setup}\n-- schedule\n{schedule}\n", "figure-3")
    with open_target("simulated") as target, Executor(target) as executor:
        trace = HistoryWalk(executor.run(case)).trace
    assert trace is not None
    return trace


def edges(trace: Trace) -> set[tuple[Kind, int, int]]:
    return {(one.kind, one.source, one.target) for one in statement_dependencies(trace)}


FIGURE_3 = {
    Kind.ITEM_READ: ("SELECT * FROM t", 0, 1),
    Kind.ITEM_WRITE: ("UPDATE t SET value = 2", 0, 1),
    Kind.PREDICATE_READ: ("SELECT * FROM t WHERE value = 0", 0, 1),
    Kind.PREDICATE_WRITE: ("UPDATE t SET value = 2 WHERE value = 0", 0, 1),
    Kind.VALUE_WRITE: ("INSERT INTO t VALUES (1, (SELECT MIN(value) FROM t))", 0, 1),
}
"""The second statement of each figure after UPDATE t SET value = 1, and the dependency between the two."""


@pytest.mark.parametrize("kind", FIGURE_3, ids=lambda kind: kind.value)
def test_what_comes_after_a_write_depends_on_it(kind: Kind) -> None:
    second, source, target = FIGURE_3[kind]
    trace = trace_of(f"1 UPDATE t SET value = 1\n2 {second}")
    # The row that the INSERT brings in is one that the UPDATE of all rows did not choose.
    missed = {(Kind.PREDICATE_WRITE, 0, 1)} if kind is Kind.VALUE_WRITE else set()
    assert edges(trace) == {(kind, source, target)} | missed


SNAPSHOT = """
1 BEGIN
1 SELECT * FROM t WHERE id = 9
2 UPDATE t SET value = 1
1 {}
1 COMMIT
"""
"""At REPEATABLE READ the fourth statement still sees what was there before the update."""


def test_a_write_comes_after_a_read_of_what_it_replaces() -> None:
    trace = trace_of(SNAPSHOT.format("SELECT * FROM t"), RR)
    assert (Kind.ITEM_ANTI, 3, 2) in edges(trace)
    assert not {one for one in edges(trace) if one[0] is Kind.ITEM_READ}


def test_a_write_comes_after_a_read_that_its_row_would_have_met() -> None:
    trace = trace_of(SNAPSHOT.format("SELECT * FROM t WHERE value = 1"), RR)
    assert (Kind.PREDICATE_ANTI, 3, 2) in edges(trace)


def test_statements_of_one_transaction_depend_on_each_other() -> None:
    trace = trace_of(
        """
        1 BEGIN
        1 UPDATE t SET value = 1
        1 SELECT * FROM t
        1 UPDATE t SET value = 2
        1 COMMIT
        """
    )
    assert edges(trace) == {
        (Kind.ITEM_READ, 1, 2),
        (Kind.ITEM_WRITE, 1, 3),
        (Kind.ITEM_ANTI, 2, 3),
    }
    assert project(statement_dependencies(trace)) == []


def test_what_was_rolled_back_has_no_dependencies() -> None:
    trace = trace_of(
        """
        1 BEGIN
        1 UPDATE t SET value = 1
        1 ROLLBACK
        2 SELECT * FROM t
        """
    )
    assert edges(trace) == set()


def test_a_phantom_comes_after_the_read_that_missed_it() -> None:
    trace = trace_of(
        SNAPSHOT.replace("UPDATE t SET value = 1", "INSERT INTO t VALUES (5, 5)").format("SELECT * FROM t"),
        RR,
    )
    assert (Kind.PREDICATE_ANTI, 3, 2) in edges(trace)


def test_a_read_comes_after_the_delete_that_it_saw() -> None:
    trace = trace_of("1 DELETE FROM t\n2 SELECT * FROM t")
    assert edges(trace) == {(Kind.PREDICATE_READ, 0, 1)}


def test_the_rows_that_a_condition_of_a_write_names_choose_its_rows() -> None:
    trace = trace_of("1 UPDATE t SET value = 1\n2 DELETE FROM t WHERE value < (SELECT MIN(id) FROM t AS s)")
    assert {one[0] for one in edges(trace)} == {Kind.PREDICATE_WRITE}


def test_transactions_depend_as_their_statements_do() -> None:
    trace = trace_of("1 UPDATE t SET value = 1\n2 SELECT * FROM t\n3 UPDATE t SET value = 2")
    found = {(one.kind, one.source, one.target) for one in project(statement_dependencies(trace))}
    assert found == {(Between.WR, 1, 2), (Between.WW, 1, 3), (Between.RW, 2, 3)}


# -- a version that changes nothing about what meets a condition does not count, where that is known

X = ObjectId("t", 1)
OLD = TraceVersion(X, INITIAL_WRITER, None, (0,))
THERE, ASIDE, BACK = (TraceVersion(X, 2, step, (step,)) for step in (1, 2, 3))


def predicate_edges(meets: frozenset[TraceVersion] | None) -> set[StatementDependency]:
    read = PredicateRead(5, "t", "", frozenset(), {X: OLD}, meets=meets)
    writer = TxTrace(
        2, "tx2", Fate.COMMITTED, tuple(Write(one.step or 0, one) for one in (THERE, ASIDE, BACK))
    )
    trace = Trace((writer, TxTrace(1, "tx1", Fate.COMMITTED, (read,))), {X: (OLD, THERE, ASIDE, BACK)})
    return {one for one in statement_dependencies(trace) if one.kind is Kind.PREDICATE_ANTI}


def test_only_a_version_that_meets_the_condition_counts() -> None:
    assert {(one.target, one.exact) for one in predicate_edges(frozenset({ASIDE}))} == {(2, True)}
    assert predicate_edges(frozenset()) == set()


def test_where_that_is_not_known_the_next_version_counts() -> None:
    assert {(one.target, one.exact) for one in predicate_edges(None)} == {(1, False)}


def test_a_version_that_was_taken_back_is_before_nothing() -> None:
    gone = TraceVersion(X, 1, 4, (9,))
    trace = Trace((TxTrace(1, "tx1", Fate.COMMITTED, (Read(5, gone),)),), {X: (OLD,)})
    assert edges(trace) == {(Kind.ITEM_READ, 4, 5)}
