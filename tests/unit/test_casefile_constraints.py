"""Which servers a case is for."""

from dataclasses import replace

import pytest

from acidtest.casefile import parse_case, runs_on, satisfies
from acidtest.model import TargetConstraint


@pytest.mark.parametrize(
    ("bounds", "version", "holds"),
    [
        ("", "10.11.19-MariaDB-0+deb12u1", True),
        (">=10.1 <11.6", "10.11.19-MariaDB-0+deb12u1", True),
        (">=10.1 <11.6", "11.6.1-MariaDB", False),
        (">=10.1 <11.6", "10.0.38-MariaDB", False),
        (">=10.2", "10.11.1", True),
        (">10.11", "10.11.19", False),
        (">10.11", "10.12.0", True),
        ("<=10.11", "10.11.19", True),
        ("<10.11", "10.11.0", False),
        ("<10.11.5", "10.11.4", True),
        ("10.11", "10.11.19", True),
        ("=10.11", "10.11.19", True),
        ("10.1", "10.11.19", False),
        ("8.0.33", "8.0.33-debug", True),
        ("=8.0.34", "8.0.33-debug", False),
        ("16", "16beta1", True),
        ("16", "PostgreSQL 16.4", True),
        (">=16.1", "16", False),
        ("1.4", "1.4.0.0", True),
        (">=1", "unknown", False),
        ("", "unknown", True),
    ],
)
def test_version_bounds(bounds: str, version: str, holds: bool) -> None:
    assert satisfies(TargetConstraint("mariadb", tuple(bounds.split())), "mariadb", version) is holds


def test_another_dbms_does_not_satisfy() -> None:
    assert not satisfies(TargetConstraint("mariadb"), "mysql", "8.0")


def test_a_bound_that_is_none_is_a_bug_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no version bound"):
        satisfies(TargetConstraint("mysql", ("~8",)), "mysql", "8.0")


def test_any_of_the_constraints_is_enough() -> None:
    case = parse_case("-- schedule\n/* a */ SELECT 1;\n", "x")
    assert runs_on(case, "duckdb", "1.1")
    case = replace(case, targets=(TargetConstraint("mysql", ("5.7",)), TargetConstraint("mysql", (">=9",))))
    assert runs_on(case, "mysql", "5.7.44")
    assert runs_on(case, "mysql", "9.7.0")
    assert not runs_on(case, "mysql", "8.0.33")
    assert not runs_on(case, "mariadb", "5.7")
