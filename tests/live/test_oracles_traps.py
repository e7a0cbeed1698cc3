"""Traps: runs in which a careless oracle cries wolf. None of ours may, on real servers, at any level.

Each trap's expectations say what makes it one, so a trap that does not snap shut fails its test, too.
"""

from dataclasses import dataclass

import pytest

from acidtest.casefile import check, parse_case
from acidtest.model import Case, EventKind, History, Judgement, Level
from tests.live.bench import Bench, Benches

INNODB = ("mariadb@10.11", "mysql@9.7")
POSTGRES = ("postgres",)
EVERYWHERE = (*INNODB, *POSTGRES)

SETUP = """\
CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL);
INSERT INTO t VALUES (1, 10), (2, 20);
"""
NUMBERED = """\
CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE);
INSERT INTO n VALUES (1, 1), (10, 10);
"""


@dataclass(frozen=True)
class Trap:
    """A case that must raise no alarm. `undecided` are oracles that may say that they cannot tell."""

    name: str
    schedule: str
    specs: tuple[str, ...] = INNODB
    setup: str = SETUP
    front: str = ""
    undecided: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        return parse_case(f"{self.front}-- setup\n{self.setup}-- schedule\n{self.schedule}", self.name)


TRAPS = [
    Trap(
        "a locking read whose subquery sees what is not committed",
        """
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;                           -- expect: affected 2
/* tx2 */ SELECT * FROM t WHERE EXISTS (SELECT * FROM t) LOCK IN SHARE MODE;  -- expect: no rows; blocked
-- expect RU: no rows; not blocked
/* tx1 */ COMMIT;
""",
        undecided=("solver", "views"),
    ),
    Trap(
        "a write that reads its own table while another one has done a part of its work",
        """
/* tx1 */ BEGIN;
/* tx1 */ UPDATE u SET v = 3 WHERE id = 2;         -- expect: affected 1
/* tx2 */ DELETE FROM u;                           -- expect: affected 3; blocked
-- expect RC: affected 4; blocked
-- expect RR, SER: affected 2; blocked or affected 4; blocked
/* tx3 */ INSERT INTO u SELECT * FROM u;           -- expect: affected 1
-- expect RC: affected 2
-- expect RR: affected 0; blocked or affected 2; blocked
-- expect SER: affected 0; blocked or affected 2; blocked or error deadlock; blocked
/* tx1 */ COMMIT;
""",
        setup="CREATE TABLE u (id INT, v INT);\nINSERT INTO u VALUES (1, 1), (2, 2);\n",
        undecided=("solver", "views"),
    ),
    Trap(
        "a share lock on an index that holds the clustered key as well",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT c FROM k WHERE a > 0 LOCK IN SHARE MODE;  -- expect: (1)
/* tx2 */ UPDATE k SET b = 0 WHERE c = 1;          -- expect: affected 1; not blocked
/* tx1 */ COMMIT;
""",
        setup="CREATE TABLE k (a INT, b INT, c INT NOT NULL, UNIQUE (c), INDEX (a));\n"
        "INSERT INTO k VALUES (1, 1, 1);\n",
    ),
    Trap(
        "REPLACE of a row by itself counts one row, and conflicts with no lock on an index alone",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;      -- expect: (1,10) (2,20)
/* tx2 */ REPLACE INTO t VALUES (1, 10);           -- expect: affected 1; not blocked
-- expect RU: affected 1
-- expect RC: affected 1
/* tx1 */ COMMIT;
""",
        setup=SETUP + "CREATE INDEX i ON t (v);\n",
    ),
    Trap(
        "an upsert that leaves NULL as it was counts one row where the default is another",
        """
/* tx1 */ INSERT INTO t VALUES (3, 5) ON DUPLICATE KEY UPDATE v = NULL;  -- expect: affected 1
""",
        setup="CREATE TABLE t (id INT PRIMARY KEY, v INT DEFAULT 1);\nINSERT INTO t VALUES (3, NULL);\n",
    ),
    Trap(
        "an insert under a key that another row had in the snapshot",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
/* tx2 */ UPDATE t SET id = 3 WHERE id = 2;        -- expect: affected 1
-- expect SER: affected 1; blocked
/* tx1 */ INSERT INTO t VALUES (2, 25);            -- expect: affected 1
-- expect SER: error duplicate-key
/* tx1 */ SELECT * FROM t;                         -- expect: (1,10) (2,25)
-- expect RU, RC: (1,10) (3,20) (2,25)
-- expect SER: (1,10) (2,20)
/* tx1 */ COMMIT;
""",
        undecided=("solver", "views"),
    ),
    Trap(
        "impossible WHERE as first read opens no snapshot",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE 1 = 2;             -- expect: no rows
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1; not blocked
/* tx1 */ SELECT * FROM t;                         -- expect: (1,11) (2,20)
/* tx1 */ COMMIT;
""",
    ),
    Trap(
        "impossible WHERE as first read opens the snapshot of PostgreSQL",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE 1 = 2;             -- expect: no rows
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1; not blocked
/* tx1 */ SELECT * FROM t;                         -- expect: (1,11) (2,20)
-- expect RR, SER: (1,10) (2,20)
/* tx1 */ COMMIT;
""",
        POSTGRES,
    ),
    Trap(
        "equal values in a non-unique index from two inserters",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);            -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (4, 30);            -- expect: affected 1; not blocked
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
        SETUP + "CREATE INDEX by_v ON t (v);\n",
    ),
    Trap(
        "NULL twice in a unique index",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, NULL);          -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (4, NULL);          -- expect: affected 1; not blocked
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
        "CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE);\nINSERT INTO t VALUES (1, 10), (2, 20);\n",
    ),
    Trap(
        "a statement that fails before it locks",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (1, NULL);          -- expect: error not-null; not blocked
/* tx2 */ ROLLBACK;
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
    ),
    Trap(
        "a deadlock victim that goes on outside its transaction",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: ok
/* tx2 */ UPDATE t SET v = 22 WHERE id = 2;        -- expect: ok
/* tx1 */ UPDATE t SET v = 21 WHERE id = 2;        -- expect: blocked
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;        -- expect: error deadlock
/* tx2 */ INSERT INTO t VALUES (3, 30);            -- expect: affected 1
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,11) (2,21) (3,30)
""",
    ),
    Trap(
        "a deadlock victim whose later statements are refused",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: ok
/* tx2 */ UPDATE t SET v = 22 WHERE id = 2;        -- expect: ok
/* tx1 */ UPDATE t SET v = 21 WHERE id = 2;        -- expect: blocked
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;        -- expect: error deadlock or ok
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
""",
        POSTGRES,
    ),
    Trap(
        "INSERT IGNORE of a duplicate",
        """
/* tx1 */ BEGIN;
/* tx1 */ INSERT IGNORE INTO t VALUES (1, 99), (3, 30);   -- expect: affected 1
/* tx1 */ SELECT * FROM t;                                -- expect: (1,10) (2,20) (3,30)
/* tx1 */ COMMIT;
""",
    ),
    Trap(
        "INSERT IGNORE that waits for the other inserter",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);            -- expect: affected 1
/* tx2 */ INSERT IGNORE INTO t VALUES (3, 31);     -- expect: affected 0; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,10) (2,20) (3,30)
""",
    ),
    Trap(
        "ON CONFLICT DO NOTHING of a duplicate that rolls back",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);                          -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (3, 31) ON CONFLICT DO NOTHING;   -- expect: affected 1; blocked
/* tx1 */ ROLLBACK;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,10) (2,20) (3,31)
""",
        POSTGRES,
    ),
    Trap(
        "NOWAIT",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;               -- expect: affected 1
/* tx2 */ SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT; -- expect: error; not blocked
/* tx2 */ ROLLBACK;
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
    ),
    Trap(
        "SKIP LOCKED",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;        -- expect: (1,10)
/* tx2 */ SELECT * FROM t FOR UPDATE SKIP LOCKED;         -- expect: (2,20); not blocked
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
""",
        undecided=("serial",),
    ),
    Trap(
        "SKIP LOCKED of PostgreSQL",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;        -- expect: (1,10)
/* tx2 */ SELECT * FROM t FOR UPDATE SKIP LOCKED;         -- expect: (2,20); not blocked
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
""",
        POSTGRES,
        undecided=("solver", "views", "serial"),
    ),
    Trap(
        "a savepoint's lock outlives ROLLBACK TO",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);            -- expect: affected 1
/* tx1 */ SAVEPOINT a;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;        -- expect: affected 1; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,12) (2,20) (3,30)
""",
    ),
    Trap(
        "ROLLBACK TO a savepoint that takes back all there is",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SAVEPOINT a;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx1 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;        -- expect: affected 1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,12) (2,20)
""",
    ),
    Trap(
        "a savepoint's lock ends with ROLLBACK TO",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SAVEPOINT a;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;        -- expect: affected 1; not blocked
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,12) (2,20)
""",
        POSTGRES,
    ),
    Trap(
        "an error undone to a savepoint",
        """
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);            -- expect: affected 1
/* tx1 */ SAVEPOINT a;
/* tx1 */ INSERT INTO t VALUES (4, 40), (1, 0);    -- expect: error duplicate-key
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx1 */ SELECT * FROM t;                         -- expect: (1,10) (2,20) (3,30)
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
    ),
    Trap(
        "automatic numbers do not come back",
        """
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO n (v) VALUES (1);            -- expect: affected 1
/* tx1 */ ROLLBACK;
/* tx2 */ INSERT INTO n (v) VALUES (2), (3);       -- expect: affected 2
/* tx1 */ INSERT INTO n (v) VALUES (4);            -- expect: affected 1
-- final
-- expect n: (1,0) (3,2) (4,3) (5,4)
""",
        setup="CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nINSERT INTO n VALUES (1, 0);\n",
        undecided=("serial",),
    ),
    *(
        Trap(
            f"automatic numbers that are lost: {name}",
            f"/* tx1 */ {sql};\n/* tx2 */ INSERT INTO n (v) VALUES (4);\n-- final\n-- expect n: {final}\n",
            setup=NUMBERED,
            undecided=("serial", "views"),
        )
        for name, sql, final in (
            ("mixed", "INSERT INTO n VALUES (NULL, 2), (5, 3)", "(1,1) (10,10) (11,2) (5,3) (13,4)"),
            ("passed by", "INSERT INTO n VALUES (50, 2), (NULL, 3)", "(1,1) (10,10) (50,2) (51,3) (53,4)"),
            ("ignored", "INSERT IGNORE INTO n (v) VALUES (1), (3)", "(1,1) (10,10) (11,3) (13,4)"),
            (
                "upsert",
                "INSERT INTO n (v) VALUES (1), (7) ON DUPLICATE KEY UPDATE v = 9",
                "(1,9) (10,10) (11,7) (13,4)",
            ),
            (
                "selected",
                "INSERT INTO n (v) SELECT v + 100 FROM n",
                "(1,1) (10,10) (11,101) (12,110) (14,4)",
            ),
            ("failed", "INSERT INTO n (v) VALUES (1), (20)", "(1,1) (10,10) (13,4)"),
            ("expression", "INSERT INTO n VALUES (1 - 1, 5)", "(1,1) (10,10) (11,5) (12,4)"),
        )
    ),
    Trap(
        "automatic numbers after an INSERT that failed half way",
        """
/* tx1 */ INSERT INTO n VALUES (90, 40), (91, 1);  -- expect: error duplicate-key
/* tx2 */ INSERT INTO n (v) VALUES (4);            -- expect: affected 1
-- final
-- expect n: (1,1) (10,10) (91,4) or (1,1) (10,10) (92,4)
""",
        setup=NUMBERED,
        undecided=("solver", "views", "serial"),
    ),
    Trap(
        "a locking read whose subquery reads its own table",
        """
/* tx1 */ SELECT * FROM t WHERE id = (SELECT v - 19 FROM t WHERE id = 2) FOR UPDATE;    -- expect: (1,10)
""",
        POSTGRES,
        undecided=("views",),
    ),
    Trap(
        "a sequence does not go back",
        """
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO n (v) VALUES (1);            -- expect: affected 1
/* tx1 */ ROLLBACK;
/* tx2 */ INSERT INTO n (v) VALUES (2);            -- expect: affected 1
-- final
-- expect n: (2,2)
""",
        POSTGRES,
        "CREATE TABLE n (id SERIAL PRIMARY KEY, v INT);\n",
        undecided=("solver", "views", "serial"),
    ),
    Trap(
        "a same-value UPDATE changes nothing and still locks",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 10 WHERE id = 1;        -- expect: affected 0
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;     -- expect: affected 1; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
""",
    ),
    Trap(
        "a same-value UPDATE is a change to PostgreSQL",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE id = 2;
/* tx1 */ UPDATE t SET v = 10 WHERE id = 1;        -- expect: affected 1
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;     -- expect: affected 1; blocked
-- expect RR, SER: error serialization-failure; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
""",
        POSTGRES,
    ),
    Trap(
        "REPLACE of a row that another reads",
        """
/* tx1 */ BEGIN;
/* tx1 */ REPLACE INTO t VALUES (1, 11), (3, 30);  -- expect: affected 3
/* tx2 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
-- expect RU: (1,11) (2,20) (3,30)
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;                         -- expect: (1,11) (2,20) (3,30)
""",
    ),
    Trap(
        "an upsert that waits and then meets the new row",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);                                     -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (3, 31) ON DUPLICATE KEY UPDATE v = v + 1;   -- expect: affected 2; blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;                                                  -- expect: (1,10) (2,20) (3,31)
/* tx2 */ COMMIT;
""",
    ),
    Trap(
        "an upsert that waits and then meets the new row, PostgreSQL",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);                                         -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (3, 31) ON CONFLICT (id) DO UPDATE SET v = excluded.v + 1;
-- expect: affected 1; blocked
-- expect RR, SER: error serialization-failure; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,10) (2,20) (3,32)
-- expect t at RR, SER: (1,10) (2,20) (3,30)
""",
        POSTGRES,
    ),
    Trap(
        "three transactions released by one COMMIT",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx4 */ BEGIN;
/* tx1 */ UPDATE t SET v = v + 1;                  -- expect: affected 3
/* tx2 */ UPDATE t SET v = v + 100 WHERE id = 1;   -- expect: blocked
/* tx3 */ UPDATE t SET v = v + 100 WHERE id = 2;   -- expect: blocked
/* tx4 */ DELETE FROM t WHERE id = 3;              -- expect: blocked
/* tx1 */ COMMIT;
/* tx4 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
""",
        EVERYWHERE,
        SETUP + "INSERT INTO t VALUES (3, 30);\n",
    ),
    Trap(
        "three readers released by one COMMIT, and a writer behind them",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx4 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;                -- expect: affected 1
/* tx2 */ SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE; -- expect: (1,11); blocked
/* tx3 */ SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE; -- expect: (1,11); blocked
/* tx4 */ UPDATE t SET v = 12 WHERE id = 1;                -- expect: affected 1; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
/* tx4 */ COMMIT;
""",
    ),
    Trap(
        "semi-consistent read passes a locked row by",
        """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx2 */ UPDATE t SET v = 21 WHERE v = 20;        -- expect: affected 1; blocked
-- expect RU, RC: affected 1; not blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
""",
    ),
    Trap(
        "a snapshot that BEGIN takes",
        """
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;                         -- expect RR: (1,10) (2,20)
-- expect RU, RC, SER: (1,11) (2,20)
/* tx1 */ COMMIT;
""",
    ),
    Trap(
        "a deleted key that comes back",
        """
/* tx1 */ BEGIN;
/* tx1 */ SELECT COUNT(*) FROM t;
/* tx1 */ DELETE FROM t WHERE id = 1;              -- expect: affected 1
/* tx1 */ INSERT INTO t VALUES (1, 12);            -- expect: affected 1
/* tx2 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
-- expect RU: (1,10) (2,20) or (1,12) (2,20)
/* tx1 */ SELECT * FROM t;                         -- expect: (1,12) (2,20)
/* tx1 */ COMMIT;
""",
        EVERYWHERE,
    ),
    Trap(
        "BEGIN commits what is open",
        """
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;     -- expect: affected 1; not blocked
/* tx1 */ ROLLBACK;
-- final
-- expect t: (1,12) (2,20)
""",
        undecided=("serial",),
    ),
]

MIXED = Trap(
    "mixed levels",
    """
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
/* tx2 */ SELECT * FROM t;                         -- expect: (1,10) (2,20)
/* tx3 */ UPDATE t SET v = 11 WHERE id = 1;        -- expect: affected 1
/* tx3 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
""",
    EVERYWHERE,
    front="-- level tx1: RC\n-- level tx2: RR\n-- level tx3: SER\n",
)


def silent(bench: Bench, trap: Trap, level: Level | None) -> History:
    """Run a trap and require that it snaps shut and that no oracle minds."""
    history = bench.run(trap.case.at_level(level))
    assert check(history) == (), level
    for oracle, verdict in bench.judge(history).items():
        walker = "solver" if oracle == "graph" else oracle  # it judges by the trace of that walk
        allowed = {Judgement.PASS} | ({Judgement.UNKNOWN} if walker in trap.undecided else set())
        assert verdict.judgement in allowed, (level, oracle, verdict.reason)
    return history


@pytest.mark.parametrize(
    ("trap", "spec"),
    [
        pytest.param(trap, spec, marks=pytest.mark.live(spec), id=f"{trap.name}-{spec}")
        for trap in TRAPS
        for spec in trap.specs
    ],
)
def test_a_trap_raises_no_alarm_at_any_level(trap: Trap, spec: str, benches: Benches) -> None:
    bench = benches.of(spec)
    for level in bench.executor.target.levels:
        silent(bench, trap, level)


@pytest.mark.parametrize("spec", [pytest.param(one, marks=pytest.mark.live(one)) for one in MIXED.specs])
def test_mixed_levels_raise_no_alarm(spec: str, benches: Benches) -> None:
    history = silent(benches.of(spec), MIXED, None)
    assert [level.short for level in history.levels.values()] == ["RC", "RR", "SER"]


@pytest.mark.parametrize("spec", [pytest.param(one, marks=pytest.mark.live(one)) for one in INNODB])
def test_the_three_that_one_commit_released_are_judged(spec: str, benches: Benches) -> None:
    trap = next(one for one in TRAPS if one.name == "three transactions released by one COMMIT")
    history = silent(benches.of(spec), trap, Level.READ_COMMITTED)
    resumed = [event for event in history.events if event.kind is EventKind.RESUMED]
    assert {event.session for event in resumed} == {"tx2", "tx3", "tx4"}
    assert {event.cause for event in resumed} == {8}
