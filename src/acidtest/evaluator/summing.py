"""Sums of DOUBLEs: certain only if every order of addition gives the same."""

from collections.abc import Sequence
from fractions import Fraction

from acidtest.evaluator.errors import Unknown


def sum_doubles(values: Sequence[float]) -> float:
    """The sum, or `Unknown` if it depends on the order in which the server reads the rows."""
    if len(values) <= 2:
        return sum(values)
    finest = max(Fraction(value).denominator for value in values)
    magnitude = sum(abs(Fraction(value)) for value in values)
    if magnitude * finest >= 1 << 53:
        raise Unknown("a sum of DOUBLEs that depends on the order of the rows")
    return sum(values)
