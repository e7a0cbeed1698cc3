"""Orders in which the statements of a transaction set are submitted (Fucci's commit orders, section 3.1)."""

from collections.abc import Iterator, Sequence
from random import Random

from acidtest.generate.conflicts import Conflict

Order = tuple[int, ...]
"""The transaction of each step."""

_TRIES_PER_ORDER = 12


def sample_orders(
    rng: Random, lengths: Sequence[int], conflicts: Sequence[Conflict], wanted: int, *, filtered: bool
) -> Iterator[Order]:
    """Up to that many different orders of transactions with these numbers of statements.

    Filtered: transactions overlap, a constructed conflict really happens between two that are both open, and
    of orders that differ only in neighbouring BEGINs one is enough.
    """
    steps = [transaction for transaction, length in enumerate(lengths) for _ in range(length)]
    seen: set[Order] = set()
    for _ in range(wanted * _TRIES_PER_ORDER):
        if len(seen) == wanted:
            return
        rng.shuffle(steps)
        order = _settled(steps) if filtered else tuple(steps)
        if order in seen or (filtered and not _is_useful(order, lengths, conflicts)):
            continue
        seen.add(order)
        yield order


def _settled(steps: Sequence[int]) -> Order:
    """Neighbouring BEGINs by number: their order among themselves decides nothing."""
    begun: set[int] = set()
    order: list[int] = []
    run: list[int] = []
    for step in steps:
        if step not in begun:
            begun.add(step)
            run.append(step)
            continue
        order += [*sorted(run), step]
        run.clear()
    return tuple(order + sorted(run))


def _is_useful(order: Order, lengths: Sequence[int], conflicts: Sequence[Conflict]) -> bool:
    places: list[list[int]] = [[] for _ in lengths]
    for place, transaction in enumerate(order):
        places[transaction].append(place)
    if conflicts:
        return any(_both_open(places, conflict) for conflict in conflicts)
    return any(
        places[a][0] < places[b][-1] and places[b][0] < places[a][-1]
        for a in range(len(places))
        for b in range(a)
    )


def _both_open(places: Sequence[Sequence[int]], conflict: Conflict) -> bool:
    """Whether the transaction of the statement that comes first has not ended when the other one runs."""
    (a, i), (b, j) = conflict.first, conflict.second
    if places[a][i] > places[b][j]:
        (a, i), (b, j) = (b, j), (a, i)
    return places[b][j] < places[a][-1]
