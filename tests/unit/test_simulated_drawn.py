"""Small cases, drawn at random, on every simulated engine without a fault: no oracle raises an alarm."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acidtest.casefile import print_case
from acidtest.examine import Examiner
from acidtest.model import Case, Judgement, Level, Statement, interleave
from acidtest.simulated import BEHAVIOURS, spec_of
from acidtest.targets.resolve import open_target

ORACLES = ("solver", "graph", "views", "serial")
EXAMPLES = 60

T = "CREATE TABLE t (id INT PRIMARY KEY, v INT)"
S = "CREATE TABLE s (x INT, y INT, UNIQUE KEY k (y))"
OF_T = (
    "SELECT * FROM t",
    "SELECT * FROM t WHERE id = {0}",
    "SELECT * FROM t WHERE v >= {0} FOR UPDATE",
    "SELECT v FROM t WHERE id = {0} LOCK IN SHARE MODE",
    "SELECT COUNT(*), SUM(v) FROM t WHERE v > {0}",
    "UPDATE t SET v = v + {0} WHERE id = {1}",
    "UPDATE t SET v = {0} WHERE v >= {1}",
    "UPDATE t SET id = id + {0} WHERE id = {1}",
    "DELETE FROM t WHERE id = {0}",
    "DELETE FROM t WHERE v = {0}",
    "INSERT INTO t VALUES ({0}, {1})",
    "INSERT INTO t VALUES ({0}, 1), ({1}, 2)",
    "INSERT IGNORE INTO t VALUES ({0}, {1})",
    "REPLACE INTO t VALUES ({0}, {1})",
    "INSERT INTO t VALUES ({0}, {1}) ON DUPLICATE KEY UPDATE v = v + {1}",
)
OF_BOTH = (
    "SELECT * FROM s",
    "SELECT t.v, s.y FROM t JOIN s ON t.id = s.x",
    "UPDATE s SET y = {0} WHERE x = {1}",
    "UPDATE t SET v = (SELECT MAX(y) FROM s) WHERE id = {0}",
    "DELETE FROM t WHERE id IN (SELECT x FROM s)",
    "INSERT INTO s SELECT id, v FROM t WHERE v > {0}",
    "INSERT INTO s VALUES ({0}, {1})",
)
SMALL = st.integers(min_value=1, max_value=4)


@st.composite
def bodies(draw: st.DrawFn, statements: tuple[str, ...]) -> list[str]:
    """What a session does: a transaction, or single statements."""
    some = st.builds(lambda sql, a, b: sql.format(a, b), st.sampled_from(statements), SMALL, SMALL)
    body = draw(st.lists(some, min_size=1, max_size=4))
    if draw(st.integers(0, 5)) == 0:
        return body
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(body)))
        back = draw(st.integers(place, len(body)))
        body = [*body[:place], "SAVEPOINT a", *body[place:back], "ROLLBACK TO SAVEPOINT a", *body[back:]]
    return ["BEGIN", *body, draw(st.sampled_from(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]))]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Two or three sessions on one or two tables, in any order."""
    both = draw(st.booleans())
    rows = draw(st.lists(SMALL, min_size=1, max_size=3, unique=True))
    setup = [T, "INSERT INTO t VALUES " + ", ".join(f"({number}, {number})" for number in rows)]
    if both:
        setup += [S, "INSERT INTO s VALUES (1, 1), (2, 3)"]
    sessions = [f"tx{number}" for number in range(1, draw(st.integers(2, 3)) + 1)]
    drawn = {name: draw(bodies(OF_T + OF_BOTH if both else OF_T)) for name in sessions}
    order = draw(st.permutations([name for name, body in drawn.items() for _ in body]))
    steps = [(name, Statement(drawn[name].pop(0))) for name in order]
    levels: dict[str, Level | None] = dict.fromkeys(sessions)
    transactions, schedule = interleave(steps, levels)
    return Case("drawn", tuple(map(Statement, setup)), transactions, schedule)


@pytest.fixture(scope="module", params=BEHAVIOURS)
def examiner(request: pytest.FixtureRequest) -> Iterator[Examiner]:
    with open_target(spec_of(request.param)) as target, Examiner(target, ORACLES) as opened:
        yield opened


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_no_oracle_raises_an_alarm(examiner: Examiner, case: Case) -> None:
    for level in examiner.target.levels:
        examined = examiner.examine(case.at_level(level))
        told = f"{print_case(case)}\n{examined.history.records}\n{examined.verdicts}"
        assert examined.judgement is not Judgement.VIOLATION, told
        assert not any(verdict.defect for verdict in examined.verdicts), told
