"""Every simulated engine without a fault: generated cases, and cases that once raised a false alarm."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from acidtest.casefile import parse_case
from acidtest.examine import Examiner
from acidtest.generate import KEYS, RICH, SIMPLE, Profile, generate_cases
from acidtest.model import ErrorKind, Failed, History, Judgement
from acidtest.simulated import BEHAVIOURS, spec_of
from acidtest.targets.resolve import open_target

ORACLES = ("solver", "graph", "views", "serial")
CASES = 60
EVERY = 5
"""Some cases in a row are orders of the same transactions."""
DECIDED_SHARE = 0.75
CONFLICTS_MIN = 3


@pytest.fixture(scope="module", params=BEHAVIOURS)
def examiner(request: pytest.FixtureRequest) -> Iterator[Examiner]:
    with open_target(spec_of(request.param)) as target, Examiner(target, ORACLES) as opened:
        yield opened


def conflicts(history: History) -> int:
    """How often transactions met: waits, and errors that a conflict makes."""
    of_conflicts = (
        ErrorKind.SERIALIZATION_FAILURE,
        ErrorKind.LOCK_NOT_AVAILABLE,
        ErrorKind.WRITE_CONFLICT,
        ErrorKind.DEADLOCK,
    )
    return sum(
        record.waited or (isinstance(record.outcome, Failed) and record.outcome.kind in of_conflicts)
        for record in history.records
    )


@pytest.mark.parametrize("profile", [SIMPLE, KEYS, RICH], ids=lambda profile: str(profile.name))
def test_generated_cases_raise_no_alarm(examiner: Examiner, profile: Profile) -> None:
    judgements: Counter[Judgement] = Counter()
    met = 0
    for level in examiner.target.levels:
        drawn = generate_cases(Random(f"{level}"), profile, "simulated", (level,))
        for case in islice(drawn, 0, CASES * EVERY, EVERY):
            examined = examiner.examine(case)
            assert examined.violation is None, (case, examined.verdicts)
            assert not any(verdict.defect for verdict in examined.verdicts), (case, examined.verdicts)
            judgements[examined.judgement] += 1
            met += conflicts(examined.history)
    assert met >= CONFLICTS_MIN
    assert judgements[Judgement.PASS] > DECIDED_SHARE * judgements.total()


SETUP = """
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
-- schedule
"""

ALARMED = {
    "an upsert of an optimistic transaction sees its snapshot": """
        /* tx1 */ BEGIN;
        /* tx1 */ SELECT * FROM t;
        /* tx2 */ UPDATE t SET id = id + 1 WHERE id = 1;
        /* tx1 */ INSERT IGNORE INTO t VALUES (1, 1);
        /* tx1 */ COMMIT;""",
    "a key that is taken is no dirty read though its row is being changed": """
        /* tx2 */ BEGIN;
        /* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
        /* tx1 */ INSERT IGNORE INTO t VALUES (1, 1);
        /* tx2 */ COMMIT;""",
    "what is undone by going back to a savepoint was no step back in time": """
        /* tx1 */ UPDATE t SET v = 2 WHERE id = 1;
        /* tx2 */ BEGIN;
        /* tx2 */ SAVEPOINT a;
        /* tx2 */ SELECT * FROM t;
        /* tx2 */ DELETE FROM t WHERE id = 1;
        /* tx2 */ SELECT * FROM t;
        /* tx2 */ ROLLBACK TO SAVEPOINT a;
        /* tx2 */ COMMIT;""",
}


@pytest.mark.parametrize("title", ALARMED)
def test_what_once_raised_an_alarm_raises_none(examiner: Examiner, title: str) -> None:
    once_alarming = parse_case(f"-- id: once{SETUP}{ALARMED[title]}\n", "once")
    for level in examiner.target.levels:
        examined = examiner.examine(once_alarming.at_level(level))
        assert examined.violation is None, examined.verdicts
