"""Which servers a case is for: `-- target: mariadb >=10.1 <11.6`."""

from acidtest.model import Case, TargetConstraint
from acidtest.model.version import BOUND, is_within

__all__ = ["BOUND", "describe_constraints", "runs_on", "satisfies"]


def satisfies(constraint: TargetConstraint, dbms: str, version: str) -> bool:
    """Whether a server is one that the constraint names, by its DBMS and all version bounds."""
    return constraint.dbms == dbms and is_within(version, constraint.versions)


def runs_on(case: Case, dbms: str, version: str) -> bool:
    """Whether the case is for that server: one of its constraints names it, or it has none."""
    return not case.targets or any(satisfies(constraint, dbms, version) for constraint in case.targets)


def describe_constraints(case: Case) -> str:
    """The servers that the case is for, in words; empty if it is for any."""
    return " or ".join(" ".join([target.dbms, *target.versions]) for target in case.targets)
