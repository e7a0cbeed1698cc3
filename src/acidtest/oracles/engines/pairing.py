"""What a statement did to a table, from its rows before and after."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from acidtest.model import Row, Table
from acidtest.oracles.chains import Seen

T = TypeVar("T")

Pairs = dict[int, Row]
"""Which row became which."""


def difference(before: Sequence[Seen], after: Sequence[Row]) -> tuple[list[Seen], list[Row]]:
    """Rows that are no longer there, and rows that are new."""
    gone = Counter(repr(seen.values) for seen in before) - Counter(map(repr, after))
    new = Counter(map(repr, after)) - Counter(repr(seen.values) for seen in before)
    return _take([(repr(seen.values), seen) for seen in before], gone), _take(
        [(repr(row), row) for row in after], new
    )


def _take(items: Sequence[tuple[str, T]], wanted: Counter[str]) -> list[T]:
    left = wanted.copy()
    taken = []
    for key, item in items:
        if left[key] > 0:
            left[key] -= 1
            taken.append(item)
    return taken


def are_whole(gone: Sequence[Seen], before: Sequence[Seen]) -> bool:
    """Whether of rows with equal values either all are gone or none: then it is known which ones."""
    values = {repr(seen.values) for seen in gone}
    return sum(repr(seen.values) in values for seen in before) == len(gone)


def new_versions(matched: Sequence[Seen], before: Sequence[Seen], after: Sequence[Row]) -> list[Row] | None:
    """What the matched rows became, in no order; None if the other rows did not stay as they were."""
    rows = {seen.row for seen in matched}
    others = Counter(repr(seen.values) for seen in before if seen.row not in rows)
    there = Counter(map(repr, after))
    if others - there:
        return None
    new = _take([(repr(row), row) for row in after], there - others)
    return new if len(new) == len(matched) else None


def pair(table: Table, old: Sequence[Seen], new: Sequence[Row], assigned: Collection[str]) -> Pairs | None:
    """Which row became which; None if that is not certain.

    Columns that the statement does not assign keep their values, so rows are told apart by them. It has to
    be certain: where a transaction writes on top of a version that its snapshot lacks (InnoDB), mistaking
    one row for another would show it an old version too many or too few.
    """
    kept = [
        i
        for i, column in enumerate(table.columns)
        if column.name.lower() not in assigned and not column.generated
    ]
    groups: Mapping[str, tuple[list[Seen], list[Row]]] = defaultdict(lambda: ([], []))
    for seen in old:
        groups[_key(seen.values, kept)][0].append(seen)
    for row in new:
        groups[_key(row, kept)][1].append(row)
    pairs: Pairs = {}
    for olds, news in groups.values():
        alike = len(set(map(repr, news))) == 1 or len({repr(seen.values) for seen in olds}) == 1
        if len(olds) != len(news) or not alike:
            return None
        pairs |= {seen.row: row for seen, row in zip(olds, news, strict=True)}
    return pairs


def _key(row: Row, positions: Sequence[int]) -> str:
    return repr([row[i] for i in positions])
