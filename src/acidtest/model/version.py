"""Versions of DBMSs, and bounds on them such as `>=10.5`; the one place that compares versions."""

import re

BOUND = re.compile(r"(>=|<=|>|<|=|)([0-9]+(?:\.[0-9]+)*)")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*", re.ASCII)
_DIGITS_MAX = 18  # dates are used as versions, longer numbers are not


def version_numbers(text: str) -> tuple[int, ...]:
    """The first dotted number of a version as the server says it, e.g. of `10.11.19-MariaDB`; else empty."""
    found = _VERSION.search(text)
    return () if found is None else _parts(found[0])


def is_within(version: str, bounds: tuple[str, ...]) -> bool:
    """Whether a version keeps all bounds.

    A version is compared in as many parts as the bound has, so 10.11.19 is within `<=10.11`, `=10.11` and
    `10.11`, and not within `>10.11`. A version that has no number keeps no bound.
    """
    own = version_numbers(version)
    return not bounds or (bool(own) and all(_keeps(own, bound) for bound in bounds))


def _keeps(version: tuple[int, ...], bound: str) -> bool:
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
