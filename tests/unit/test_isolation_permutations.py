"""Permutations become cases that come to the same as what isolationtester sends."""

import pytest

from acidtest.casefile import parse_case, print_case
from acidtest.casefile.isolation import Permutation, parse_spec, permutations


def only(text: str) -> Permutation:
    (permutation,) = permutations(parse_spec(text, "x.spec"))
    return permutation


def sent(permutation: Permutation) -> list[str]:
    """The schedule as a case file writes it, with its place in the permutation."""
    return [
        f"{step.session}{'+' if step.statement.joined else ''} {step.sql}"
        + (f" -- await {' '.join(step.statement.awaits)}" if step.statement.awaits else "")
        for step in permutation.case.steps
    ]


def step_of(sql: str, setup: str = "") -> list[str]:
    setup = f"setup {{ {setup} }}" if setup else ""
    return sent(only(f"session s {setup} step a {{ {sql} }} permutation a"))


def test_without_permutations_every_order_is_run_and_the_first_session_goes_first() -> None:
    spec = parse_spec("session a step a1 { 1 } step a2 { 2 } session b step b1 { 3 } step b2 { 4 }", "x.spec")
    orders = [" ".join(one.names) for one in permutations(spec)]
    assert orders == [
        "a1 a2 b1 b2",
        "a1 b1 a2 b2",
        "a1 b1 b2 a2",
        "b1 a1 a2 b2",
        "b1 a1 b2 a2",
        "b1 b2 a1 a2",
    ]
    assert [one.number for one in permutations(spec)] == [1, 2, 3, 4, 5, 6]


def test_set_ups_go_first_and_teardowns_last() -> None:
    permutation = only(
        """setup { CREATE TABLE t (a int); INSERT INTO t VALUES (1); } setup { VACUUM t; }
        teardown { DROP TABLE t; }
        session s1 setup { BEGIN; } step a { SELECT 1; } teardown { COMMIT; }
        session s2 setup { SET x = 1; BEGIN; } step b { SELECT 2; } step unused { SELECT 3; }
        permutation b a b"""
    )
    case = permutation.case
    assert [one.sql for one in case.setup] == [
        "CREATE TABLE t (a int)",
        "INSERT INTO t VALUES (1)",
        "VACUUM t",
    ]
    assert sent(permutation) == [
        "s1 BEGIN",
        "s2 SET x = 1",
        "s2+ BEGIN",
        "s2 SELECT 2",
        "s1 SELECT 1",
        "s2 SELECT 2 -- await s1 s2",
        "s1 COMMIT",
    ]
    assert permutation.places == (None, None, None, 0, 1, 2, None)
    assert [one.sql for one in case.teardown] == ["DROP TABLE t"]
    assert case.strict
    assert case.id == "x-1"
    assert parse_case(print_case(case), "x") == case


@pytest.mark.parametrize(
    ("sql", "setup", "expected"),
    [
        ("SELECT 1; SELECT 2;", "BEGIN;", ["s BEGIN", "s SELECT 1", "s+ SELECT 2"]),
        ("BEGIN; SELECT 1; COMMIT;", "", ["s BEGIN", "s+ SELECT 1", "s+ COMMIT"]),
        ("SET x = 1; BEGIN; SELECT 1;", "", ["s SET x = 1", "s+ BEGIN", "s+ SELECT 1"]),
        # One transaction outside any block, or one that BEGIN takes into its own.
        ("INSERT 1; INSERT 2;", "", ["s INSERT 1; INSERT 2"]),
        ("INSERT 1; BEGIN;", "", ["s INSERT 1; BEGIN"]),
        # The others must not run between a release and what follows it.
        ("COMMIT; SELECT 1;", "BEGIN;", ["s BEGIN", "s COMMIT; SELECT 1"]),
        ("ROLLBACK TO x; SELECT 1;", "BEGIN;", ["s BEGIN", "s ROLLBACK TO x; SELECT 1"]),
        ("SELECT pg_advisory_unlock(1); SELECT 1", "BEGIN;", None),
        # A failed or prepared transaction, a chain.
        ("COMMIT AND CHAIN;", "BEGIN; SELECT 1;", ["s BEGIN", "s+ SELECT 1", "s COMMIT AND CHAIN"]),
        ("PREPARE TRANSACTION 'p'; SELECT 1", "BEGIN;", ["s BEGIN", "s PREPARE TRANSACTION 'p'; SELECT 1"]),
        ("SELECT ';'; -- ; none\n", "", ["s SELECT ';'"]),
        ("SELECT 'open", "", ["s SELECT 'open"]),
    ],
)
def test_one_message_or_several(sql: str, setup: str, expected: list[str] | None) -> None:
    found = step_of(sql, setup)
    assert found == (expected or ["s BEGIN", f"s {sql}"])


def test_who_is_in_a_transaction_is_followed_through_the_permutation() -> None:
    steps = "step b { BEGIN; } step c { COMMIT; } step two { SELECT 1; SELECT 2; }"
    assert sent(only(f"session s {steps} permutation two b two c two")) == [
        "s SELECT 1; SELECT 2",
        "s BEGIN",
        "s SELECT 1",
        "s+ SELECT 2",
        "s COMMIT",
        "s SELECT 1; SELECT 2",
    ]


def test_a_marker_awaits_a_step_that_is_under_way_and_an_empty_step_its_session() -> None:
    sessions = "session a step a1 { A1 } step an { -- nothing\n } session b step b1 { B1 } step b2 { B2 }"
    assert sent(only(f"{sessions} permutation a1 b1 (a1) b2")) == ["a A1", "b B1 -- await a", "b B2"]
    assert sent(only(f"{sessions} permutation b1 (a1) a1")) == ["b B1", "a A1"]
    assert sent(only(f"{sessions} permutation a1 b1 (*, a1 notices 2)")) == ["a A1", "b B1"]
    assert sent(only(f"{sessions} permutation a1 b1 an b2")) == ["a A1", "b B1 -- await a", "b B2"]


def test_names_that_a_case_file_cannot_hold() -> None:
    sessions = 'session "1 é" step a { A } session "1__" step b { B } permutation a b'
    assert list(only(sessions).case.schedule) == ["s_1__", "s_1___"]


def test_sessions_that_are_looked_for_have_the_names_that_isolationtester_gives_them() -> None:
    permutation = only("session s step a { SELECT application_name FROM pg_stat_activity; } permutation a")
    assert sent(permutation) == [
        "s SET application_name = 'isolation/x/s'",
        "s SELECT application_name FROM pg_stat_activity;",
    ]
