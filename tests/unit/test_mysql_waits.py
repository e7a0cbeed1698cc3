"""Who waits for whom, from what InnoDB prints and from metadata tickets."""

import pytest

from acidtest.targets.mysql_family.innodb import read_status, record_conflict
from acidtest.targets.mysql_family.locks import Lock, metadata_conflict, who_blocks
from acidtest.targets.mysql_family.replies import Result, ResultSet
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import CountingWatch, PerformanceSchemaWatch, StatusWatch

HEAD = """
=====================================
2026-11-15 22:26:18 0x77a1e3fff6c0 INNODB MONITOR OUTPUT
=====================================
{before}------------
TRANSACTIONS
------------
Trx id counter 44
LIST OF TRANSACTIONS FOR EACH SESSION:
"""
RECORD_X = "lock_mode X locks rec but not gap"
TABLE_IX = "TABLE LOCK table `x`.`t` trx id 1 lock mode IX\n"


def record_lock(mode: str, heap: int = 2, page: int = 3) -> str:
    return (
        f"RECORD LOCKS space id 7 page no {page} n bits 72 index PRIMARY of table `x`.`t` trx id 1 {mode}\n"
        f"Record lock, heap no {heap} PHYSICAL RECORD: n_fields 4; compact format; info bits 0\n"
        " 0: len 4; hex 80000001; asc     ;;\n\n"
    )


def transaction(thread: int, locks: str, waits: bool = False) -> str:
    return (
        f"---TRANSACTION {thread}, ACTIVE 1 sec\n"
        + ("LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n" if waits else "2 lock struct(s)\n")
        + f"MariaDB thread id {thread}, OS thread handle 131538742777536, query id 42 localhost root\n"
        + locks
    )


def status(*transactions: str, before: str = "") -> str:
    end = "---TRANSACTION (0x7fa249098b80), not started\n0 lock struct(s)\n--------\nFILE I/O\n--------\n"
    return HEAD.format(before=before) + "".join(transactions) + end


def test_nobody_waits() -> None:
    assert read_status(status(transaction(1, record_lock(RECORD_X)))) == {}


def test_a_waiter_and_the_holder_of_the_same_record() -> None:
    text = status(
        transaction(34, TABLE_IX + record_lock(RECORD_X + " waiting"), waits=True),
        transaction(32, TABLE_IX + record_lock(RECORD_X)),
        transaction(31, record_lock(RECORD_X, heap=3)),
        transaction(30, record_lock(RECORD_X, page=4)),
    )
    assert read_status(text) == {34: frozenset({32})}


def test_waits_of_an_old_deadlock_are_not_taken_for_new_ones() -> None:
    old = transaction(5, record_lock(RECORD_X + " waiting"), waits=True)
    assert read_status(status(before="LATEST DETECTED DEADLOCK\n" + old)) == {}


def test_a_record_that_is_named_without_its_contents_is_found() -> None:
    bare = " PHYSICAL RECORD: n_fields 4; compact format; info bits 0\n 0: len 4; hex 80000001; asc     ;;\n"
    text = status(
        transaction(2, record_lock(RECORD_X + " waiting", heap=7), waits=True),
        transaction(1, record_lock(RECORD_X, heap=7)),
        transaction(3, record_lock(RECORD_X, heap=77)),
    )
    assert read_status(text.replace(bare, "")) == {2: frozenset({1})}


def test_a_waiter_is_in_the_way_of_others_by_what_it_holds() -> None:
    text = status(
        transaction(3, record_lock(RECORD_X + " waiting", heap=4), waits=True),
        transaction(
            2, record_lock(RECORD_X, heap=4) + record_lock(RECORD_X + " waiting", heap=5), waits=True
        ),
        transaction(1, record_lock("lock_mode X", heap=5)),
    )
    assert read_status(text) == {2: frozenset({1}), 3: frozenset({2})}


def test_a_waiter_whose_lock_is_not_printed_is_named_without_a_blocker() -> None:
    assert read_status(status(transaction(7, "", waits=True))) == {7: frozenset()}


def test_who_asks_behind_a_waiter_waits_for_it_if_nobody_else_is_in_the_way() -> None:
    text = status(
        transaction(3, record_lock("lock mode S locks rec but not gap waiting"), waits=True),
        transaction(2, record_lock(RECORD_X + " waiting"), waits=True),
        transaction(1, record_lock("lock mode S locks rec but not gap")),
    )
    assert read_status(text) == {2: frozenset({1}), 3: frozenset({2})}


def test_a_table_lock_is_waited_for() -> None:
    text = status(
        transaction(2, "TABLE LOCK table `x`.`t` trx id 2 lock mode AUTO-INC waiting\n", waits=True),
        transaction(1, "TABLE LOCK table `x`.`t` trx id 1 lock mode AUTO-INC\n" + TABLE_IX),
    )
    assert read_status(text) == {2: frozenset({1})}


RECORD, GAP, BOTH = " locks rec but not gap", " locks gap before rec", ""
INSERT = "X locks gap before rec insert intention"


@pytest.mark.parametrize(
    ("asked", "held", "waits"),
    [
        ("X" + RECORD, "X" + RECORD, True),
        ("S" + RECORD, "S" + RECORD, False),
        ("S" + RECORD, "X" + RECORD, True),
        ("X" + RECORD, "X" + GAP, False),
        ("X" + GAP, "X" + BOTH, False),
        ("X" + BOTH, "S" + BOTH, True),
        ("X" + BOTH, "X" + GAP, False),
        (INSERT, "S" + GAP, True),
        (INSERT, "X" + BOTH, True),
        (INSERT, "X" + RECORD, False),
        (INSERT, INSERT, False),
        ("X" + BOTH, INSERT, False),
    ],
)
def test_record_locks_conflict_as_in_innodb(asked: str, held: str, waits: bool) -> None:
    thing = ("7", "3", "2")
    assert record_conflict(Lock(1, thing, asked, True), Lock(2, thing, held, False)) is waits


def test_at_the_end_of_a_page_only_inserts_wait() -> None:
    supremum = ("7", "3", "1")
    held = Lock(2, supremum, "X", False)
    assert not record_conflict(Lock(1, supremum, "X", True), held)
    assert record_conflict(Lock(1, supremum, "X insert intention", True), held)


@pytest.mark.parametrize(
    ("asked", "held", "waits"),
    [
        ("EXCLUSIVE", "SHARED_READ", True),
        ("SHARED_READ", "SHARED_WRITE", False),
        ("SHARED_WRITE", "SHARED_READ_ONLY", True),
        ("SHARED_READ", "SHARED_NO_READ_WRITE", True),
        ("SHARED_UPGRADABLE", "SHARED_UPGRADABLE", True),
        ("INTENTION_EXCLUSIVE", "INTENTION_EXCLUSIVE", False),
        ("INTENTION_EXCLUSIVE", "SHARED", True),
        ("A_KIND_OF_TOMORROW", "SHARED", True),
    ],
)
def test_metadata_locks_conflict_as_in_the_server(asked: str, held: str, waits: bool) -> None:
    assert metadata_conflict(Lock(1, "t", asked, True), Lock(2, "t", held, False)) is waits


def test_two_requests_with_nobody_in_the_way_do_not_block_each_other() -> None:
    locks = [Lock(1, "t", "EXCLUSIVE", True), Lock(2, "t", "EXCLUSIVE", True)]
    assert who_blocks(locks, metadata_conflict) == {1: frozenset(), 2: frozenset()}


def test_times_that_xtradb_prints_behind_a_lock_are_left_out() -> None:
    times = " lock hold time 1 wait time before grant 0 "
    text = status(
        transaction(34, record_lock(RECORD_X + " waiting" + times), waits=True),
        transaction(32, record_lock(RECORD_X + times)),
    )
    assert read_status(text) == {34: frozenset({32})}


class InFlight(MySQLSession):
    """A session that is just a number."""

    def __init__(self) -> None:
        """Without a connection."""


def counted(text: str, waiters: int, *suspects: int) -> set[int]:
    """Who waits, by a status, the number of all waiters, and the sessions in flight."""
    sessions = {number: InFlight() for number in suspects}
    watch = CountingWatch(None, sessions)  # type: ignore[arg-type]
    watch._suspects = tuple(sessions.values())
    answers = (
        ResultSet(("Type", "Name", "Status"), (("InnoDB", "", text),), 0, 0),
        ResultSet(("Id",), (), 0, 0),
        ResultSet(("Variable_name", "Value"), (("Innodb_row_lock_current_waits", str(waiters)),), 0, 0),
    )
    surely, by_state = watch.read(answers)
    return {*surely, *by_state}


def test_a_waiter_that_the_status_leaves_out_is_found_by_the_count() -> None:
    text = status(transaction(1, record_lock(RECORD_X))).replace("MariaDB thread", "MySQL thread")
    assert counted(text, 1, 2) == {2}
    assert counted(text, 0, 2) == set()
    assert counted(text, 1, 2, 3) == set()  # one of the two: not known which
    assert counted(text, 2, 2, 3) == {2, 3}
    old = "LATEST DETECTED DEADLOCK\nMySQL thread id 2, OS thread handle 1\n"
    assert counted(text.replace("------------\nTRANSACTIONS", old + "TRANSACTIONS"), 1, 2) == {2}


def test_a_waiter_that_the_status_shows_is_not_counted_twice() -> None:
    text = status(
        transaction(1, record_lock(RECORD_X)), transaction(2, record_lock(RECORD_X + " waiting"), waits=True)
    ).replace("MariaDB thread", "MySQL thread")
    assert counted(text, 1, 2, 3) == {2}
    assert counted(text, 2, 2, 3) == {2, 3}


class ScriptedWire:
    """Keeps the questions, and hands out answers as they were prepared."""

    label = "scripted"

    def __init__(self, *answers: tuple[Result, ...]) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    def query(self, sql: str) -> None:
        self.asked.append(sql)

    def receive(self) -> tuple[Result, ...]:
        return self._answers.pop(0)


def rows(*found: tuple[object, ...]) -> ResultSet:
    return ResultSet((), found, 0, 0)  # type: ignore[arg-type]


BOTH_WAIT = status(
    transaction(1, record_lock(RECORD_X)),
    transaction(2, record_lock(RECORD_X + " waiting"), waits=True),
    transaction(3, record_lock(RECORD_X + " waiting"), waits=True),
)
ONE_WAITS = status(
    transaction(1, record_lock(RECORD_X)), transaction(2, record_lock(RECORD_X + " waiting"), waits=True)
)


def test_the_process_list_is_not_asked_for_if_the_status_names_all_suspects() -> None:
    sessions: dict[int, MySQLSession] = {number: InFlight() for number in (1, 2, 3)}
    wire = ScriptedWire((rows(("InnoDB", "", BOTH_WAIT)),))
    watch = StatusWatch(wire, sessions)  # type: ignore[arg-type]
    watch.ask([sessions[2], sessions[3]])
    assert watch.answer() == dict.fromkeys((sessions[2], sessions[3]), frozenset({sessions[1]}))
    assert wire.asked == ["SHOW ENGINE INNODB STATUS"]


def test_the_process_list_is_asked_for_about_who_is_not_in_the_status() -> None:
    sessions: dict[int, MySQLSession] = {number: InFlight() for number in (1, 2, 3)}
    first = (rows(("InnoDB", "", ONE_WAITS)),)
    waiting = (3, "root", "", "", "Query", 1, "Waiting for table metadata lock", "")
    full = (rows(("InnoDB", "", ONE_WAITS)), rows(waiting))
    wire = ScriptedWire(first, full)
    watch = StatusWatch(wire, sessions)  # type: ignore[arg-type]
    watch.settles_s = 0.0  # type: ignore[misc]
    watch.ask([sessions[2], sessions[3]])
    assert watch.answer() is None
    assert watch.answer() == {sessions[2]: frozenset({sessions[1]}), sessions[3]: frozenset()}
    assert wire.asked == ["SHOW ENGINE INNODB STATUS", "SHOW ENGINE INNODB STATUS; SHOW PROCESSLIST"]


def test_mysql_is_asked_about_metadata_only_while_threads_are_new_or_row_locks_explain_too_little() -> None:
    sessions: dict[int, MySQLSession] = {number: InFlight() for number in (1, 2)}
    waits, owners = rows((102, 7, 6)), rows((6, 101), (7, 102))
    threads = rows((101, 1, None), (102, 2, "updating"))
    wire = ScriptedWire(
        (waits, owners, rows(), threads),
        (waits, owners),
        (rows(), owners),
        (rows(), owners, rows(), threads),
    )
    watch = PerformanceSchemaWatch(wire, sessions)  # type: ignore[arg-type]
    two_waits_for_one = {sessions[2]: frozenset({sessions[1]})}
    for _ in range(2):
        watch.ask([sessions[2]])
        assert watch.answer() == two_waits_for_one
    watch.ask([sessions[2]])
    assert watch.answer() is None
    assert watch.answer() == {}
    assert ["metadata_locks" in question for question in wire.asked] == [True, False, False, True]
    sessions[3] = InFlight()
    watch.ask([sessions[3]])
    assert "metadata_locks" in wire.asked[-1]
