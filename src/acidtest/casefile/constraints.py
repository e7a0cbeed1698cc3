"""Which servers a case is for: `-- target: mariadb >=10.1 <11.6`."""

import re

from acidtest.model import Case, TargetConstraint

BOUND = re.compile(r"(>=|<=|>|<|=|)([0-9]+(?:\.[0-9]+)*)")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*", re.ASCII)
_DIGITS_MAX = 18  # dates are used as versions, longer numbers are not


def satisfies(constraint: TargetConstraint, dbms: str, version: str) -> bool:
    """Whether a server is one that the constraint names, by its DBMS and all version bounds.

    A version is compared in as many parts as the bound has, so 10.11.19 is within `<=10.11`, `=10.11` and
    `10.11`, and not within `>10.11`. What follows the first dotted number of `version` does not count.
    """
    if constraint.dbms != dbms:
        return False
    found = _VERSION.search(version)
    if found is None:
        return not constraint.versions
    return all(_within(_parts(found[0]), bound) for bound in constraint.versions)


def runs_on(case: Case, dbms: str, version: str) -> bool:
    """Whether the case is for that server: one of its constraints names it, or it has none."""
    return not case.targets or any(satisfies(constraint, dbms, version) for constraint in case.targets)


def describe_constraints(case: Case) -> str:
    """The servers that the case is for, in words; empty if it is for any."""
    return " or ".join(" ".join([target.dbms, *target.versions]) for target in case.targets)


def _within(version: tuple[int, ...], bound: str) -> bool:
    match = BOUND.fullmatch(bound)
    if match is None:
        raise ValueError(f"{bound!r} is no version bound such as >=10.5")
    wanted = _parts(match[2])
    # A version with fewer parts than the bound is the first of its kind: 10 is 10.0.
    own = (version + (0,) * len(wanted))[: len(wanted)]
    return {
        ">=": own >= wanted,
        "<=": own <= wanted,
        ">": own > wanted,
        "<": own < wanted,
        "=": own == wanted,
        "": own == wanted,
    }[match[1]]


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part[:_DIGITS_MAX]) for part in version.split("."))
