"""At SERIALIZABLE every history of the simulated DBMS has a serial order; a fault takes that away."""

import random
from collections.abc import Iterator
from itertools import permutations

import pytest

from acidtest.execute import Executor
from acidtest.model import (
    Blocked,
    Case,
    Failed,
    History,
    Level,
    Omitted,
    Rows,
    Statement,
    Undone,
    interleave,
    sort_rows,
)
from acidtest.targets.simulated import SimulatedTarget

CASES = 150
SETUP = (
    Statement("CREATE TABLE t (id INT PRIMARY KEY, v INT)"),
    Statement("CREATE TABLE s (x INT, y INT)"),
    Statement("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"),
    Statement("INSERT INTO s VALUES (1, 1), (2, 3)"),
)
STATEMENTS = (
    "SELECT * FROM t WHERE v >= {0}",
    "SELECT COUNT(*), SUM(v) FROM t",
    "SELECT t.v, s.y FROM t JOIN s ON t.id = s.x",
    "SELECT * FROM t WHERE id = {0} FOR UPDATE",
    "UPDATE t SET v = v + {0} WHERE v < {1}",
    "UPDATE t SET v = (SELECT MAX(y) FROM s) WHERE id = {0}",
    "UPDATE t SET id = id + {0} WHERE id = {1}",
    "UPDATE s SET y = {0} WHERE x = {1}",
    "DELETE FROM t WHERE v = {0}",
    "INSERT INTO t VALUES ({0}, {1})",
    "INSERT INTO t VALUES ({0}, {1}), ({1}, 0)",
    "INSERT IGNORE INTO t VALUES ({0}, {1})",
    "INSERT INTO s SELECT id, v FROM t WHERE v > {0}",
)


def random_case(seed: int) -> Case:
    rng = random.Random(seed)
    names = ["tx1", "tx2", "tx3"][: rng.randint(2, 3)]
    bodies = {
        name: ["BEGIN", *(_statement(rng) for _ in range(rng.randint(1, 3))), rng.choice(ENDS)]
        for name in names
    }
    order = [name for name, body in bodies.items() for _ in body]
    rng.shuffle(order)
    return _case(str(seed), [(name, bodies[name].pop(0)) for name in order])


ENDS = ("COMMIT", "COMMIT", "COMMIT", "ROLLBACK")


def _statement(rng: random.Random) -> str:
    return rng.choice(STATEMENTS).format(rng.randint(1, 5), rng.randint(1, 5))


def _case(name: str, steps: list[tuple[str, str]]) -> Case:
    sessions = dict.fromkeys((session for session, _ in steps), Level.SERIALIZABLE)
    transactions, schedule = interleave([(one, Statement(sql)) for one, sql in steps], dict(sessions))
    return Case(name, SETUP, transactions, schedule)


def committed(history: History) -> list[str]:
    """Transactions that ended with a COMMIT of what they did."""
    lost = {
        record.session
        for record in history.records
        if isinstance(record.outcome, Blocked | Omitted)
        or (isinstance(record.outcome, Failed) and record.outcome.undone is Undone.TRANSACTION)
        or record.sql == "ROLLBACK"
    }
    return [tx.name for tx in history.case.transactions if tx.name not in lost]


def victim_went_on(history: History) -> bool:
    """Whether the victim of a deadlock went on outside its transaction: that is one more transaction."""
    victims: set[str] = set()
    for record in history.records:
        if record.session in victims and record.sql not in ENDS:
            return True
        if isinstance(record.outcome, Failed) and record.outcome.undone is Undone.TRANSACTION:
            victims.add(record.session)
    return False


def seen(history: History, session: str) -> list[object]:
    """What a transaction was told."""
    outcomes = [record.outcome for record in history.records if record.session == session]
    return [sort_rows(one.rows) if isinstance(one, Rows) else one for one in outcomes]


def has_serial_order(history: History, executor: Executor) -> bool:
    names = committed(history)
    for order in permutations(names):
        steps = [(name, one.sql) for name in order for one in history.case.transaction(name).statements]
        if not steps:
            return history.final == history.initial
        serial = executor.run(_case("serial", steps))
        if serial.final == history.final and all(seen(serial, one) == seen(history, one) for one in order):
            return True
    return False


@pytest.fixture(scope="module")
def sound() -> Iterator[Executor]:
    with SimulatedTarget(None, "simulated") as target, Executor(target) as executor:
        yield executor


def test_every_history_has_a_serial_order(sound: Executor) -> None:
    histories = [sound.run(random_case(seed)) for seed in range(CASES)]
    judged = [history for history in histories if not victim_went_on(history)]
    assert len(judged) > CASES * 3 // 4
    assert sum(any(record.waited for record in history.records) for history in judged) > CASES // 4
    for history in judged:
        assert has_serial_order(history, sound), history.case.id


@pytest.mark.parametrize("fault", ["serializable-read-without-lock", "no-predicate-lock-ser"])
def test_without_locks_some_history_has_none(sound: Executor, fault: str) -> None:
    with SimulatedTarget(None, f"simulated@{fault}", fault) as target, Executor(target) as executor:
        histories = (executor.run(random_case(seed)) for seed in range(10 * CASES))
        judged = (history for history in histories if not victim_went_on(history))
        assert not all(has_serial_order(history, sound) for history in judged)
