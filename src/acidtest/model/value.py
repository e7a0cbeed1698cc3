"""Values and rows as a DBMS returned them: typed, NULL as None, compared as multisets."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal

# A bool is a value of its own only where the DBMS has a boolean type; MySQL's TRUE is the integer 1.
Value = int | float | Decimal | str | bytes | bool | date | datetime | time | timedelta | None
Row = tuple[Value, ...]


def same_rows(left: Iterable[Row], right: Iterable[Row]) -> bool:
    """Whether two results hold the same rows the same number of times, in any order."""
    return Counter(map(typed_row, left)) == Counter(map(typed_row, right))


def sort_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in a fixed order that does not depend on the DBMS, for printing and storing a state."""
    return tuple(sorted(rows, key=lambda row: [(type(v).__name__, _orderable(v)) for v in row]))


def typed_row(row: Row) -> tuple[tuple[bool, Value], ...]:
    """Equal only for the same result: Python holds True == 1, but a boolean column is no integer column."""
    return tuple((isinstance(v, bool), v) for v in row)


def _orderable(value: Value) -> object:
    return 0 if value is None else value
