"""Reduced findings of known bugs are about as short as what people wrote into the trackers."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from acidtest import corpus
from acidtest.casefile import load_case, parse_case, print_case
from acidtest.examine import Examiner
from acidtest.findings.signature import signature_of
from acidtest.investigation.same_bug import SameBug, look
from acidtest.model import Case, Statement, interleave
from acidtest.reduce import POLICIES, characters, reduce_case
from acidtest.sql import StatementKind, kind_of
from acidtest.targets.resolve import open_target

SPEC = "mariadb@10.11"
BUGS = ("MDEV-26642", "MDEV-26643", "MDEV-27992", "MDEV-32898", "MDEV-34108")

LONGER_MAX = 1.3
"""How much longer than the case of the corpus a reduced one may be."""

THIRD = (
    "START TRANSACTION",
    "INSERT INTO extra (id, note, amount) VALUES (7, 'seven', 70), (8, NULL, 80)",
    "UPDATE extra SET amount = amount + 1, note = 'x' WHERE (id > 1) AND NOT (note IS NULL)",
    "SELECT e.id, COUNT(*) AS n FROM extra AS e GROUP BY e.id HAVING COUNT(*) > 0 ORDER BY e.id LIMIT 3",
    "ROLLBACK",
)


@pytest.fixture(scope="module")
def examiner() -> Iterator[Examiner]:
    with open_target(SPEC) as target, Examiner(target, ["solver"]) as running:
        yield running


def inflated(case: Case) -> Case:
    """The case as a fuzzer might have found it: more columns, tables, rows, statements, a third session."""
    setup = [
        "CREATE TABLE extra (id INT NOT NULL, note VARCHAR(20) DEFAULT '?', amount BIGINT, PRIMARY KEY (id))",
        *(_wider(one.sql, _columns(case)) for one in case.setup),
        "CREATE INDEX by_amount ON extra (amount, note)",
        "INSERT INTO extra (id, note, amount) VALUES (1, 'one', 10), (2, 'two', 20), (3, NULL, NULL)",
    ]
    steps: list[tuple[str, Statement]] = []
    third = iter(THIRD)
    for step in case.steps:
        if (own := next(third, None)) is not None:
            steps.append(("noise", Statement(own)))
        if kind_of(step.sql) is StatementKind.COMMIT:
            steps.append(
                (step.session, Statement("SELECT id, note FROM extra WHERE amount BETWEEN 5 AND 15"))
            )
            steps.append((step.session, Statement("DELETE FROM extra WHERE id = 99 OR note = 'ninety'")))
        steps.append((step.session, Statement(_padded(step.sql))))
    steps += [("noise", Statement(own)) for own in third]
    levels = {tx.name: tx.level for tx in case.transactions} | {"noise": case.transactions[0].level}
    transactions, schedule = interleave(steps, levels)
    whole = replace(
        case,
        setup=tuple(map(Statement, setup)),
        transactions=transactions,
        schedule=schedule,
        expect_final=(),
    )
    return parse_case(print_case(whole), "inflated")


def _wider(sql: str, columns: str) -> str:
    """Two more columns; rows name the columns they are for."""
    if sql.startswith("CREATE TABLE t "):
        return sql.removesuffix(")") + ", n1 VARCHAR(20) DEFAULT 'x', n2 INT NOT NULL DEFAULT 7)"
    return sql.replace("INSERT INTO t VALUES", f"INSERT INTO t ({columns}) VALUES")


def _columns(case: Case) -> str:
    """The columns of the only table, as an INSERT lists them."""
    inside = case.setup[0].sql.removeprefix("CREATE TABLE t (").removesuffix(")")
    return ", ".join(one.split()[0] for one in inside.split(", "))


def _padded(sql: str) -> str:
    """A condition that always holds, in another guise."""
    if sql.startswith(("UPDATE t", "DELETE FROM t")):
        head, where, condition = sql.partition(" WHERE ")
        return f"{head} WHERE ({condition if where else '1 = 1'}) AND (n2 BETWEEN 0 AND 99)"
    return sql


@pytest.mark.live(SPEC)
@pytest.mark.parametrize("bug", BUGS)
def test_a_reduced_finding_is_as_short_as_the_report(bug: str, examiner: Examiner) -> None:
    known = load_case(corpus.find(bug))
    found = inflated(known)
    assert characters(found) > 3 * characters(known)
    seen = look(found, examiner, "solver")
    assert seen is not None, "the inflated case still shows the bug"
    gate = SameBug(examiner, "solver", signature_of(*seen))
    dialect = examiner.target.dialect
    result = reduce_case(found, dialect, gate.interesting, reordering=gate.reordering, rng=Random(1))
    assert result.stopped == "minimal"
    assert len(result.case.transactions) == len(known.transactions)
    assert statements(result.case) <= LONGER_MAX * statements(known)
    assert characters(result.case) <= LONGER_MAX * characters(known)
    assert gate.look(result.case) is not None


def statements(case: Case) -> int:
    return len(case.setup) + len(case.schedule)


@pytest.mark.live(SPEC)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gets_there(policy: str, examiner: Examiner) -> None:
    known = load_case(corpus.find("MDEV-26643"))
    found = inflated(known)
    seen = look(found, examiner, "solver")
    assert seen is not None
    gate = SameBug(examiner, "solver", signature_of(*seen))
    result = reduce_case(
        found,
        examiner.target.dialect,
        gate.interesting,
        reordering=gate.reordering,
        policy=policy,
        rng=Random(2),
    )
    assert characters(result.case) <= LONGER_MAX * characters(known)
