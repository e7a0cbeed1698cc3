"""Other releases of DuckDB and SQLite, each in a process of its own."""

import os
import signal
from collections.abc import Iterator

import pytest

from acidtest.casefile import check, parse_case
from acidtest.errors import TargetFailedError, UsageError
from acidtest.execute import Executor
from acidtest.model import Affected, Case, ErrorKind, Failed, Rows
from acidtest.servers import embedded
from acidtest.targets.apart import ApartTarget
from acidtest.targets.resolve import expand_spec, open_target
from tests.conftest import EMBEDDED, provide


def case(schedule: str) -> Case:
    setup = "-- setup\nCREATE TABLE t (a INT PRIMARY KEY, b INT);\nINSERT INTO t VALUES (1, 1);\n"
    return parse_case(f"{setup}-- schedule\n{schedule}", "case")


@pytest.fixture(scope="module", params=EMBEDDED)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    provide(request.param)
    with open_target(request.param) as target, Executor(target) as executor:
        yield executor


def test_the_release_is_the_one_that_was_asked_for(executor: Executor) -> None:
    assert executor.target.version == executor.target.label.partition("@")[2]
    assert executor.target.label in expand_spec(f"{executor.target.dbms}@*")


def test_sessions_of_one_file_see_each_other(executor: Executor) -> None:
    history = executor.run(
        case("""\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2 WHERE a = 1;   -- expect: affected 1
/* tx2 */ SELECT b FROM t;                  -- expect: (1)
/* tx2 */ UPDATE t SET b = 3 WHERE a = 1;   -- expect: error
/* tx1 */ COMMIT;
/* tx2 */ SELECT b FROM t;                  -- expect: (2)
/* tx2 */ INSERT INTO t VALUES (1, 1);      -- expect: error duplicate-key
/* tx2 */ SELECT * FROM missing;            -- expect: error no-such-object
-- final
-- expect t: (1,2)
""")
    )
    assert check(history) == ()
    assert isinstance(history.records[1].outcome, Affected)
    assert isinstance(history.records[2].outcome, Rows)
    assert [table.name for table in history.schema.tables] == ["t"]


def test_what_was_committed_outlives_a_kill(executor: Executor) -> None:
    history = executor.run(
        case("""\
/* tx1 */ INSERT INTO t VALUES (2, 2);
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ \\kill;
/* tx2 */ SELECT * FROM t;  -- expect: (1,1) (2,2)
/* tx1 */ \\restart;
-- final
-- expect t: (1,1) (2,2)
""")
    )
    assert check(history) == ()
    assert not history.server_died


def test_a_crash_of_the_release_is_its_death_and_not_ours(executor: Executor) -> None:
    target = executor.target
    assert isinstance(target, ApartTarget)
    executor.run(case("/* tx1 */ SELECT 1;\n"))
    session = target.open_session()
    os.kill(target.process_id, signal.SIGKILL)
    session.launch("SELECT 1")
    reply = session.poll()
    assert reply is not None
    assert isinstance(reply.outcome, Failed)
    assert reply.outcome.kind is ErrorKind.CONNECTION_LOST
    assert not target.is_alive()
    assert executor.late_death() is not None
    with pytest.raises(TargetFailedError):
        executor.run(case("/* tx1 */ SELECT 1;\n"))
    assert check(executor.run(case("/* tx1 */ SELECT b FROM t; -- expect: (1)\n"))) == ()


def test_a_release_that_is_not_there_is_named_with_the_remedy() -> None:
    with pytest.raises(UsageError, match=r"run: acidtest server install duckdb@0\.0\.7"):
        open_target("duckdb@0.0.7")
    with pytest.raises(UsageError, match="is no version"):
        embedded.install("duckdb", "newest")
