"""Real servers accept what is generated for them."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from acidtest.execute import Executor
from acidtest.generate import RICH, Generator, flavour_of, productions_of
from acidtest.model import ErrorKind, Failed, Omitted
from acidtest.targets.resolve import open_target

REJECTED = {ErrorKind.SYNTAX, ErrorKind.UNSUPPORTED, ErrorKind.BAD_VALUE, ErrorKind.OTHER}
REJECTED_SHARE_MAX = 0.03
SETS_MAX = 2500


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("mariadb@10.11", marks=pytest.mark.live("mariadb@10.11")),
        pytest.param("mysql@9.7", marks=pytest.mark.live("mysql@9.7")),
        pytest.param("postgres", marks=pytest.mark.live("postgres")),
        "sqlite",
        "duckdb",
    ],
)
def test_every_production_is_accepted(spec: str) -> None:
    # One order of each set will do here, two transactions wait less than four, and long ones hold more.
    profile = replace(
        RICH, orders_per_set=1, sets_per_schema=2, decay=0.8, statements_max=6, transactions=((2, 1.0),)
    )
    rejected: Counter[str] = Counter()
    statements = 0
    with open_target(spec) as target, Executor(target) as executor:
        flavour = flavour_of(target.dbms, target.version)
        wanted = {one.name for one in productions_of(profile, flavour)}
        rng = random.Random(11)
        sets = Generator(rng, profile, flavour, (target.default_level,)).sets()
        for _ in range(SETS_MAX):
            transactions = next(sets)
            for case in transactions.cases(rng, profile, "accepted"):
                for record in executor.run(case).records:
                    statements += 1
                    outcome = record.outcome
                    if isinstance(outcome, Failed) and outcome.kind in REJECTED:
                        rejected[f"{outcome.message}: {record.sql}"] += 1
                    elif not isinstance(outcome, Failed | Omitted):
                        wanted -= transactions.productions.get(record.sql, frozenset())
            if not wanted:
                break
    assert not wanted, f"never accepted: {sorted(wanted)}"
    assert sum(rejected.values()) <= REJECTED_SHARE_MAX * statements, rejected.most_common(5)
