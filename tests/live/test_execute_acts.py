"""Acts on real servers: clients that hang up, servers that are killed and started again, start options."""

import pytest

from acidtest.casefile import check, parse_case
from acidtest.errors import UsageError
from acidtest.execute import Executor
from acidtest.model import Case, ErrorKind, Failed
from acidtest.targets.resolve import open_target
from tests.conftest import provide

SETUP = """\
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
"""


def case(schedule: str, front: str = "") -> Case:
    return parse_case(front + SETUP + schedule, "case")


KILLED = case("""\
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 2 WHERE a = 1;
/* tx2 */ UPDATE t SET b = b + 10 WHERE a = 1; -- expect: resumed by tx1
/* tx1 */ \\close;
/* tx1 */ INSERT INTO t VALUES (2, 2);
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 4);
/* tx2 */ \\kill;
/* tx1 */ SELECT * FROM t; -- expect: (1,11) (2,2)
/* tx2 */ SELECT * FROM t; -- expect: (1,11) (2,2)
/* tx1& */ INSERT INTO t VALUES (4, 4);
/* tx2 */ INSERT INTO t VALUES (5, 5);
/* tx1 */ \\restart;
-- final
-- expect t: (1,11) (2,2) (4,4) (5,5)
""")


@pytest.mark.parametrize("spec", ["postgres", "mariadb@10.11", "mysql@9.7"])
def test_a_client_hangs_up_and_a_server_is_killed_and_restarted(spec: str) -> None:
    provide(spec)
    with open_target(spec) as target, Executor(target) as executor:
        history = executor.run(KILLED)
        assert check(history) == ()
        assert not history.server_died
        lost = [record for record in history.records if isinstance(record.outcome, Failed)]
        assert [(one.step, one.outcome.kind) for one in lost] == [  # type: ignore[union-attr]
            (8, ErrorKind.CONNECTION_LOST)
        ]
        assert check(executor.run(KILLED)) == ()


REOPENED = case("""\
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (2, 2);
/* tx2 */ \\restart;
/* tx1 */ SELECT * FROM t; -- expect: (1,1)
/* tx1 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ \\close;
-- final
-- expect t: (1,1) (3,3)
""")


@pytest.mark.parametrize("spec", ["sqlite", "duckdb"])
def test_a_database_file_is_opened_again(spec: str) -> None:
    with open_target(spec) as target, Executor(target) as executor:
        for _ in range(2):
            assert check(executor.run(REOPENED)) == ()
        with pytest.raises(UsageError, match="cannot be killed"):
            executor.run(case("/* tx1 */ \\kill;\n"))
        assert check(executor.run(REOPENED)) == ()


def test_a_server_is_started_with_the_options_of_a_case() -> None:
    provide("mariadb@10.11")
    asked = "/* tx1 */ SELECT @@query_cache_type; -- expect: ('{}')\n"
    cached = case(asked.format("ON"), "-- server: --query-cache-type=1 --query-cache-size=1M\n")
    refused = case(asked.format("ON"), "-- server: --no-such-option=1\n")
    with open_target("mariadb@10.11") as target, Executor(target) as executor:
        assert check(executor.run(cached)) == ()
        with pytest.raises(UsageError, match="does not start with --no-such-option=1"):
            executor.run(refused)
        assert check(executor.run(case(asked.format("OFF")))) == ()


def test_a_server_of_others_gets_no_options() -> None:
    wanting = case("/* tx1 */ SELECT 1;\n", "-- server: --x=1\n")
    with (
        open_target("sqlite") as target,
        Executor(target) as executor,
        pytest.raises(UsageError, match="cannot get the options"),
    ):
        executor.run(wanting)
