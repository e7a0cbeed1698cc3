"""The generator without a server: reproducible, well-formed, and nothing of it left unused."""

import random
from dataclasses import replace
from itertools import islice

import pytest

from acidtest.casefile import parse_case, print_case
from acidtest.errors import UsageError
from acidtest.generate import (
    GRAMMAR,
    MIXED,
    PROFILES,
    RICH,
    SIMPLE,
    Conflicts,
    Generator,
    Profile,
    flavour_of,
    generate_case,
    generate_cases,
    productions_of,
    profile_of,
)
from acidtest.generate.flavour import FLAVOURS, Can
from acidtest.model import Case, Level
from acidtest.sql.shape import shape_of
from acidtest.sql.trees import parse

LEVELS = (Level.READ_COMMITTED,)
CONTROL = ("BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


def cases_of(profile: Profile, dbms: str, seed: int, count: int) -> list[Case]:
    return list(islice(generate_cases(random.Random(seed), profile, dbms, LEVELS), count))


@pytest.mark.parametrize("dbms", FLAVOURS)
@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
class TestCases:
    def test_same_seed_gives_the_same_cases(self, profile: Profile, dbms: str) -> None:
        assert cases_of(profile, dbms, 7, 60) == cases_of(profile, dbms, 7, 60)

    def test_seeds_differ(self, profile: Profile, dbms: str) -> None:
        assert cases_of(profile, dbms, 1, 20) != cases_of(profile, dbms, 2, 20)

    def test_statements_can_be_read_back(self, profile: Profile, dbms: str) -> None:
        for case in cases_of(profile, dbms, 3, 100):
            for step in case.steps:
                if not step.sql.startswith(CONTROL):
                    assert shape_of(step.sql, FLAVOURS[dbms].grammar) is not None, step.sql
            for statement in case.setup:
                assert parse(statement.sql, FLAVOURS[dbms].grammar) is not None, statement.sql

    def test_cases_are_case_files(self, profile: Profile, dbms: str) -> None:
        for case in cases_of(profile, dbms, 4, 40):
            again = parse_case(print_case(case), case.id)
            assert (again.setup, again.schedule) == (case.setup, case.schedule)

    def test_transactions_begin_and_end(self, profile: Profile, dbms: str) -> None:
        for case in cases_of(profile, dbms, 5, 100):
            assert 2 <= len(case.transactions) <= 4
            for transaction in case.transactions:
                first, *body, last = [statement.sql for statement in transaction.statements]
                assert first == "BEGIN" or first.startswith("START TRANSACTION")
                assert last in ("COMMIT", "ROLLBACK")
                assert body


@pytest.mark.parametrize("dbms", FLAVOURS)
def test_every_production_is_used(dbms: str) -> None:
    flavour = flavour_of(dbms)
    # New tables every time and deep nesting, so that rare ones come up soon.
    profile = replace(RICH, sets_per_schema=1, decay=0.9, conflicts=Conflicts(share=0))
    sets = Generator(random.Random(1), profile, flavour, LEVELS).sets()
    wanted = {one.name for one in productions_of(profile, flavour)}
    for transactions in islice(sets, 3000):
        wanted -= frozenset().union(*transactions.productions.values())
        if not wanted:
            break
    assert not wanted


def test_simple_is_one_table_and_six_kinds() -> None:
    for case in cases_of(SIMPLE, "mariadb", 6, 300):
        assert sum(statement.sql.startswith("CREATE TABLE") for statement in case.setup) == 1
        for step in case.steps:
            assert step.sql.split()[0] in {
                "BEGIN",
                "COMMIT",
                "ROLLBACK",
                "SELECT",
                "UPDATE",
                "DELETE",
                "INSERT",
            }
            assert step.sql.count("SELECT") <= 1


def test_shares_of_reads_that_open_and_close() -> None:
    def ends(profile: Profile) -> list[tuple[bool, bool]]:
        bodies = [
            [one.sql for one in tx.statements[1:-1]]
            for case in cases_of(profile, "mariadb", 8, 60)
            for tx in case.transactions
        ]
        return [(body[0] == "SELECT * FROM t", body[-1] == "SELECT * FROM t") for body in bodies]

    quiet = replace(SIMPLE, opening_read_share=0, closing_read_share=0, whole_share=0)
    assert set(ends(quiet)) == {(False, False)}
    assert set(ends(replace(SIMPLE, opening_read_share=1, closing_read_share=1))) == {(True, True)}


def test_mixed_follows_each_of_its_parts_and_keeps_its_own_switches() -> None:
    off = replace(MIXED, orders_per_set=3, conflicts=Conflicts(share=0))
    drawn = [off.drawn(random.Random(seed)) for seed in range(60)]
    assert {one.name for one in drawn} == {"simple", "keys", "rich"}
    assert {(one.orders_per_set, one.conflicts.share) for one in drawn} == {(3, 0)}


def test_levels_for_all_or_mixed() -> None:
    one = generate_case(random.Random(1), SIMPLE, "mysql", (Level.SERIALIZABLE,))
    assert {tx.level for tx in one.transactions} == {Level.SERIALIZABLE}
    mixed = islice(generate_cases(random.Random(1), SIMPLE, "mysql", tuple(Level)), 100)
    assert any(len({tx.level for tx in case.transactions}) > 1 for case in mixed)


def test_old_versions_get_no_new_syntax() -> None:
    assert not flavour_of("mariadb", "10.5.29-MariaDB").can(Can.SKIP_LOCKED)
    assert flavour_of("mariadb", "10.11.19-MariaDB").can(Can.SKIP_LOCKED)
    assert flavour_of("mysql", "5.6.24").share == "LOCK IN SHARE MODE"
    assert not flavour_of("mysql", "8.0.12").can(Can.INTERSECT)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="simple, keys, rich"):
        profile_of("nonsense")
    with pytest.raises(UsageError, match="oracle"):
        flavour_of("oracle")
    with pytest.raises(UsageError, match="level"):
        generate_case(random.Random(1), SIMPLE, "mysql", ())


def test_profiles_correct_weights_of_productions_that_exist() -> None:
    names = {one.name for options in GRAMMAR.values() for one in options}
    assert all(set(profile.weights) <= names for profile in PROFILES.values())
