"""Orders in which the statements of a transaction set are submitted (Fucci's commit orders, section 3.1)."""

from collections.abc import Iterator, Sequence
from random import Random

from acidtest.generate.conflicts import Conflict

Order = tuple[int, ...]
"""The transaction of each step."""

_TRIES_PER_ORDER = 12
_NESTED_SHARE = 0.4
_BURST_SHARE = 0.2


def sample_orders(
    rng: Random, lengths: Sequence[int], conflicts: Sequence[Conflict], wanted: int, *, filtered: bool
) -> Iterator[Order]:
    """Up to that many different orders of transactions with these numbers of statements.

    Filtered: transactions overlap, a constructed conflict happens between two that overlap, of orders that
    differ only in neighbouring BEGINs one is enough, and orders with few switches come more often than chance
    would have it.
    """
    seen: set[Order] = set()
    for _ in range(wanted * _TRIES_PER_ORDER):
        if len(seen) == wanted:
            return
        order = _settled(_drawn(rng, lengths)) if filtered else _shuffled(rng, lengths)
        if order in seen or (filtered and not _is_useful(order, lengths, conflicts)):
            continue
        seen.add(order)
        yield order


def _drawn(rng: Random, lengths: Sequence[int]) -> Order:
    """Any order; or one of those that shuffling seldom gives and in which snapshots and waits are long."""
    dice = rng.random()
    if dice < _NESTED_SHARE:
        return _nested(rng, lengths)
    return _in_bursts(rng, lengths) if dice < _NESTED_SHARE + _BURST_SHARE else _shuffled(rng, lengths)


def _shuffled(rng: Random, lengths: Sequence[int]) -> Order:
    steps = [transaction for transaction, length in enumerate(lengths) for _ in range(length)]
    rng.shuffle(steps)
    return tuple(steps)


def _nested(rng: Random, lengths: Sequence[int]) -> Order:
    """One transaction as a whole between two statements of another; the rest is shuffled among them."""
    outer, inner = rng.sample(range(len(lengths)), 2)
    gap = rng.randint(min(2, lengths[outer] - 1), lengths[outer] - 1)
    both = [outer] * gap + [inner] * lengths[inner] + [outer] * (lengths[outer] - gap)
    others = [0 if number in (outer, inner) else length for number, length in enumerate(lengths)]
    others[outer] = len(both)
    steps = iter(both)
    return tuple(next(steps) if one == outer else one for one in _shuffled(rng, others))


def _in_bursts(rng: Random, lengths: Sequence[int]) -> Order:
    """A few statements of one transaction, then a few of another."""
    left = list(lengths)
    order: list[int] = []
    while any(left):
        one = rng.choice([number for number, count in enumerate(left) if count])
        run = min(left[one], rng.randint(1, 3))
        left[one] -= run
        order += [one] * run
    return tuple(order)


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
        return any(_meet(places, conflict) for conflict in conflicts)
    return any(
        places[a][0] < places[b][-1] and places[b][0] < places[a][-1]
        for a in range(len(places))
        for b in range(a)
    )


def _meet(places: Sequence[Sequence[int]], conflict: Conflict) -> bool:
    """Whether the transaction of the later statement had begun to work before that of the earlier one ended.

    Either the later statement meets an open transaction, or its own has a snapshot from before the end.
    """
    (a, i), (b, j) = conflict.first, conflict.second
    if places[a][i] > places[b][j]:
        a, b = b, a
    return places[b][1] < places[a][-1]
