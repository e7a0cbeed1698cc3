"""Every policy keeps its promises on any case, and reaches known minima."""

from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acidtest.casefile import parse_case, print_case
from acidtest.errors import UsageError
from acidtest.examine import Examiner
from acidtest.generate import PROFILES, generate_case
from acidtest.investigation.same_bug import look
from acidtest.model import Case, Level
from acidtest.reduce import POLICIES, Limits, Progress, characters, order, reduce_case
from acidtest.reduce.operations import Layer, Operation
from acidtest.reduce.order import texts_of
from acidtest.reduce.policies.greedy import Greedy
from acidtest.reduce.policies.table import ProbabilityTable
from acidtest.sql.trees import parse
from acidtest.targets.resolve import open_target
from tests.unit.casefile_strategies import cases

Check = Callable[[Case], bool]

DIALECTS = {"mariadb": "mysql", "postgres": "postgres", "sqlite": "sqlite", "duckdb": "duckdb"}

NOISY = """\
-- id: noisy
-- level: READ COMMITTED
-- setup
CREATE TABLE stock (id BIGINT NOT NULL, name VARCHAR(20), amount INT DEFAULT 5, PRIMARY KEY (id));
INSERT INTO stock (id, name, amount) VALUES (10, 'dog', 1), (20, 'cat', 2), (30, NULL, 3);
-- schedule
/* one */ BEGIN;
/* two */ BEGIN;
/* three */ SELECT COUNT(*) FROM stock;
/* one */ SELECT name FROM stock WHERE id > 5;
/* two */ UPDATE stock SET amount = 22, name = 'mouse' WHERE (id = 10) AND NOT (name IS NULL);
/* one */ SELECT * FROM stock WHERE amount IN (1, 2) ORDER BY id;
/* two */ DELETE FROM stock WHERE id = 99;
/* two */ ROLLBACK;
/* one */ COMMIT;
"""

MINIMUM = """\
-- id: noisy
-- level: READ COMMITTED
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
"""


@pytest.fixture(scope="module")
def examiner() -> Iterator[Examiner]:
    with open_target("simulated@dirty-read") as target, Examiner(target, ["solver"]) as running:
        yield running


@pytest.fixture
def dirty_read(examiner: Examiner) -> Check:
    """Whether a case shows the planted fault on the simulated target."""
    return lambda case: look(case, examiner, "solver") is not None


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_policy_reaches_the_minimum(policy: str, seed: int, dirty_read: Check) -> None:
    case = parse_case(NOISY, "noisy")
    assert dirty_read(case)
    result = reduce_case(case, "mysql", dirty_read, policy=policy, rng=Random(seed))
    assert (result.stopped, result.original) == ("minimal", case)
    assert print_case(result.case) == MINIMUM
    assert result.runs == sum(layer.runs for layer in result.steps)
    assert result.kept == sum(layer.kept for layer in result.steps)
    assert result.tried == result.runs + result.cached


@pytest.mark.parametrize("policy", POLICIES)
def test_no_candidate_is_run_twice(policy: str, dirty_read: Check) -> None:
    seen: list[str] = []

    def interesting(candidate: Case) -> bool:
        seen.append(print_case(candidate))
        return dirty_read(candidate)

    reduce_case(parse_case(NOISY, "noisy"), "mysql", interesting, policy=policy, rng=Random(1))
    assert len(seen) == len(set(seen))


def test_the_same_seed_gives_the_same_reduction(dirty_read: Check) -> None:
    case = parse_case(NOISY, "noisy")
    one, other = (reduce_case(case, "mysql", dirty_read, policy="random", rng=Random(4)) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("dbms", DIALECTS)
@settings(max_examples=8, deadline=None)
@given(policy=st.sampled_from(list(POLICIES)), seed=st.integers(0, 10_000))
def test_the_promises_hold_for_generated_cases(dbms: str, policy: str, seed: int) -> None:
    rng = Random(seed)
    case = generate_case(rng, PROFILES["rich"], dbms, (Level.READ_COMMITTED,))
    wanted = rng.sample([word for text in texts_of(case) for word in text.split()], 3)

    def interesting(candidate: Case) -> bool:
        assert all(
            _readable(text, DIALECTS[dbms]) for text in texts_of(candidate) if text not in texts_of(case)
        )
        return all(word in " ".join(texts_of(candidate)) for word in wanted)

    result = reduce_case(case, DIALECTS[dbms], interesting, policy=policy, rng=rng)
    assert interesting(result.case)
    assert order(result.case) <= order(case)
    assert parse_case(print_case(result.case), "again") == result.case


def _readable(text: str, dialect: str) -> bool:
    """Whether a text that the reducer made is SQL, as far as sqlglot knows it."""
    return parse(text, dialect) is not None or text.startswith("REPLACE")


@settings(max_examples=20, deadline=None)
@given(case=cases(), data=st.data())
def test_the_promises_hold_for_any_case_file(case: Case, data: st.DataObject) -> None:
    answers: dict[str, bool] = {}

    def interesting(candidate: Case) -> bool:
        text = print_case(candidate)
        answers.setdefault(text, data.draw(st.booleans()))
        return answers[text]

    result = reduce_case(case, "mysql", interesting, rng=Random(1), limits=Limits(runs_max=25))
    assert parse_case(print_case(result.case), "again") == result.case
    assert result.kept == 0 or answers[print_case(result.case)]


def test_what_is_refused_is_not_interesting() -> None:
    def interesting(candidate: Case) -> bool:
        if not candidate.setup:
            raise UsageError("the set-up was refused")
        return True

    result = reduce_case(parse_case(NOISY, "noisy"), "mysql", interesting, rng=Random(1))
    assert result.case.setup


@pytest.mark.parametrize("limits", [Limits(runs_max=7), Limits(stalled_runs_max=2), Limits(seconds_max=-1.0)])
def test_limits_end_a_reduction(limits: Limits, dirty_read: Check) -> None:
    result = reduce_case(parse_case(NOISY, "noisy"), "mysql", dirty_read, rng=Random(1), limits=limits)
    assert result.stopped == "limit"
    assert result.runs <= limits.runs_max
    assert dirty_read(result.case)


def test_an_interruption_gives_the_best_so_far(dirty_read: Check) -> None:
    runs = 0

    def interesting(candidate: Case) -> bool:
        nonlocal runs
        runs += 1
        if runs == 15:
            raise KeyboardInterrupt
        return dirty_read(candidate)

    result = reduce_case(parse_case(NOISY, "noisy"), "mysql", interesting, rng=Random(1))
    assert result.stopped == "interrupted"
    assert dirty_read(result.case)
    assert characters(result.case) < characters(result.original)


def test_progress_is_told_after_every_run(dirty_read: Check) -> None:
    told: list[Progress] = []
    case = parse_case(NOISY, "noisy")
    result = reduce_case(case, "mysql", dirty_read, rng=Random(1), progress=told.append)
    assert [one.runs for one in told] == list(range(1, result.runs + 1))
    assert told[-1].characters == characters(result.case)


def test_an_unknown_policy_is_refused(dirty_read: Check) -> None:
    with pytest.raises(UsageError, match="unknown reduction policy 'best'"):
        reduce_case(parse_case(NOISY, "noisy"), "mysql", dirty_read, policy="best", rng=Random(1))


GOOD, BAD = Operation("good", lambda _: ()), Operation("bad", lambda _: ())
LAYER = Layer("layer", (GOOD, BAD))


def test_the_table_makes_what_worked_likelier() -> None:
    policy = ProbabilityTable(Random(1))
    for _ in range(10):
        policy.learn(LAYER, GOOD, kept=True)
        policy.learn(LAYER, BAD, kept=False)
    chosen = [policy.choose((GOOD, BAD)).name for _ in range(300)]
    assert chosen.count("good") > 270
    assert 0 < chosen.count("bad") < 30


def test_the_greedy_policy_takes_the_best_average_and_explores() -> None:
    policy = Greedy(Random(1))
    for kept in (True, False, True, True):
        policy.learn(LAYER, GOOD, kept)
    for kept in (True, False, False):
        policy.learn(LAYER, BAD, kept)
    chosen = [policy.choose((BAD, GOOD)).name for _ in range(1000)]
    assert 900 < chosen.count("good") < 1000
