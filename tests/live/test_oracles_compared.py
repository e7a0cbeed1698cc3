"""`replay` and `differential` on real servers: what is documented is no bug, and a bug is somebody's."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from acidtest import corpus
from acidtest.casefile import load_case, parse_case
from acidtest.examine import Examiner
from acidtest.model import Case, ComparisonWitness, Judgement, Level, Verdict, ViolationKind
from acidtest.targets.resolve import open_target

pytestmark = [pytest.mark.live("mysql@9.7"), pytest.mark.live("mariadb@10.11")]

RC, RR, SER = Level.READ_COMMITTED, Level.REPEATABLE_READ, Level.SERIALIZABLE

FIGURE_11 = """-- level: REPEATABLE READ
-- setup
CREATE TABLE t0 (pkey INT, vkey INT);
INSERT INTO t0 VALUES (0, 0);
-- schedule
/* T0 */ START TRANSACTION;
/* T0 */ UPDATE t0 SET vkey = 1;
/* T1 */ START TRANSACTION;
/* T1 */ SELECT * FROM t0 WHERE vkey = 0;
/* T1 */ UPDATE t0 SET vkey = 2 WHERE vkey = 0;
/* T0 */ COMMIT;
/* T1 */ COMMIT;
"""
"""TxCheck's blocking mechanism: the update waits, and does not find what the read beside it found."""

G2 = """-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ SELECT v FROM t WHERE id = 1;
/* tx2 */ COMMIT;
"""


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Examiner]:
    """MariaDB, compared with MySQL."""
    with ExitStack() as stack:
        target, other = (stack.enter_context(open_target(one)) for one in ("mariadb@10.11", "mysql@9.7"))
        yield stack.enter_context(Examiner(target, ["replay", "differential"], against=other))


def verdicts(examiner: Examiner, case: Case) -> dict[str, Verdict]:
    return {one.oracle: one for one in examiner.examine(case, fresh=True).verdicts}


def test_what_a_write_sees_more_than_a_read_is_no_bug(mariadb: Examiner) -> None:
    figure_1 = load_case(corpus.find("MYSQL-108528"))
    said = verdicts(mariadb, figure_1)
    assert said["replay"].judgement is Judgement.PASS
    assert said["replay"].reason == ""
    assert said["differential"].judgement is Judgement.PASS


def test_a_write_that_waited_is_ordered_by_what_it_found(mariadb: Examiner) -> None:
    said = verdicts(mariadb, parse_case(FIGURE_11, "figure-11"))
    assert {one.judgement for one in said.values()} == {Judgement.PASS}


PASSED_BY = """-- level: READ COMMITTED
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx2 */ UPDATE t SET a = a + 2;
/* tx1 */ INSERT INTO t VALUES (0);
/* tx1 */ COMMIT;
"""


def test_a_row_that_came_behind_a_statement_that_waits_comes_after_it(mariadb: Examiner) -> None:
    examined = mariadb.examine(parse_case(PASSED_BY, "passed-by"), fresh=True)
    assert examined.history.final == {"t": ((0,), (3,))}
    assert examined.verdicts[0].judgement is Judgement.PASS
    assert examined.verdicts[0].reason == ""


def test_the_bug_of_one_of_two_is_seen_by_both_oracles_and_named(mariadb: Examiner) -> None:
    said = verdicts(mariadb, load_case(corpus.find("MDEV-26642")))
    for verdict in said.values():
        assert verdict.violation is not None
        assert [known.id for known in verdict.violation.explained_by] == ["MDEV-26642"]
    witness = said["differential"].violation and said["differential"].violation.witness
    assert isinstance(witness, ComparisonWitness)
    assert [one.target for one in witness.breaches] == ["mariadb@10.11"]


def test_a_level_that_was_not_really_set_shows(mariadb: Examiner) -> None:
    history = mariadb.executor.run(parse_case(G2, "g2").at_level(RR), fresh=True)
    claimed = replace(history, levels=dict.fromkeys(history.levels, SER))
    (verdict,) = mariadb.judge(claimed, ["replay"])
    assert verdict.kind in (ViolationKind.UNTRANSACTED, ViolationKind.FORBIDDEN_PHENOMENON)
