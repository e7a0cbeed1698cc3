"""Orders in which the statements of a trace may run one by one (TxCheck, section 3.3).

Nodes are steps. Besides the dependencies of the trace, keys keep their order: a row can take a unique key
only when it is free, and refer to a row only while that is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

from acidtest.graph.cycles import strong_parts
from acidtest.graph.statements import statement_dependencies
from acidtest.model import Dependency, DependencyKind, Row, Schema, Table, Trace, Value
from acidtest.model.trace import ObjectId, TraceVersion

Edge = tuple[int, int]


def statement_edges(trace: Trace, schema: Schema, steps: Iterable[int], order: Sequence[int]) -> set[Edge]:
    """Which step has to come before which; `order` is that in which the steps took effect."""
    nodes = set(steps)
    found = {(one.source, one.target) for one in statement_dependencies(trace)}
    places = {step: place for place, step in enumerate(order) if step in nodes}
    between = {(one, other) for one, other in found if one in nodes and other in nodes}
    return between | set(_key_edges(trace, schema, places))


def cycle_breakers(edges: Iterable[Edge]) -> list[int]:
    """Steps without which no cycle is left: again and again the one on most ways through its cycles."""
    left, chosen = set(edges), []
    while parts := _cyclic_parts(left):
        ways = {step: _ways(step, left, part) for part in parts for step in part}
        worst = max(ways, key=lambda step: (ways[step], -step))
        chosen.append(worst)
        left = {edge for edge in left if worst not in edge}
    return chosen


def random_order(steps: Iterable[int], edges: Iterable[Edge], dice: Random) -> tuple[int, ...]:
    """A topological order; wherever several steps may come next, the dice choose."""
    after: dict[int, set[int]] = {}
    open_before: dict[int, int] = dict.fromkeys(sorted(steps), 0)
    for one, other in set(edges):
        after.setdefault(one, set()).add(other)
        open_before[other] += 1
    free = [step for step, count in open_before.items() if not count]
    order: list[int] = []
    while free:
        step = free.pop(dice.randrange(len(free)))
        order.append(step)
        for other in sorted(after.get(step, ())):
            open_before[other] -= 1
            if not open_before[other]:
                free.append(other)
    return tuple(order)


def all_orders(steps: Iterable[int], edges: Iterable[Edge]) -> Iterator[tuple[int, ...]]:
    """Every topological order, one after the other; there may be very many."""
    before: dict[int, set[int]] = {step: set() for step in sorted(steps)}
    for one, other in edges:
        before[other].add(one)
    stack: list[tuple[int, ...]] = [()]
    while stack:
        done = stack.pop()
        if len(done) == len(before):
            yield done
            continue
        free = [step for step, needs in before.items() if step not in done and needs <= set(done)]
        stack += [(*done, step) for step in reversed(free)]


def count_orders(steps: Iterable[int], edges: Iterable[Edge], most: int) -> int:
    """How many topological orders there are; counting ends at `most`."""
    before: dict[int, set[int]] = {step: set() for step in steps}
    for one, other in edges:
        before[other].add(one)
    known: dict[frozenset[int], int] = {}

    def count(done: frozenset[int]) -> int:
        if len(done) == len(before):
            return 1
        if done not in known:
            total = 0
            for step, needs in before.items():
                if step not in done and needs <= done:
                    total += count(done | {step})
                    if total >= most:
                        break
            known[done] = min(total, most)
        return known[done]

    return count(frozenset())


# -- cycles


def _cyclic_parts(edges: Iterable[Edge]) -> list[frozenset[int]]:
    return strong_parts(_as_dependency(one, other) for one, other in edges)


def _ways(step: int, edges: Iterable[Edge], part: frozenset[int]) -> int:
    """On how many ways of two edges within its part a step lies."""
    inner = [edge for edge in edges if edge[0] in part and edge[1] in part]
    return sum(edge[1] == step for edge in inner) * sum(edge[0] == step for edge in inner)


_NOTHING = TraceVersion(ObjectId("", 0), 0, None)


def _as_dependency(one: int, other: int) -> Dependency:
    """The graph's own searches are over transactions; here steps stand in their place."""
    return Dependency(DependencyKind.WW, one, other, _NOTHING, one, other)


# -- keys

Token = tuple[str, tuple[Value, ...]]
"""A constraint and a key that it is about."""


def _key_edges(trace: Trace, schema: Schema, places: Mapping[int, int]) -> Iterator[Edge]:
    """Steps that free, take, bring or need the same key, in the order in which they took effect."""
    holders: dict[Token, set[int]] = {}
    for name, versions in trace.order.items():
        for older, newer in pairwise([None, *versions]):
            if newer is None or newer.step is None or newer.step not in places:
                continue
            old = older.values if older is not None else None
            for token in _tokens(schema, name.table, old, newer.values):
                holders.setdefault(token, set()).add(newer.step)
    for steps in holders.values():
        yield from pairwise(sorted(steps, key=places.__getitem__))


def _tokens(schema: Schema, name: str, old: Row | None, new: Row | None) -> Iterator[Token]:
    """The keys that a change of a row of a table touches."""
    table = schema.table(name)
    names = [column.name for column in table.columns]
    for label, columns in _keys(schema, table):
        if not set(columns) <= set(names):
            yield label, ()  # an expression, or a part of a text: every row may have every key
            continue
        before, after = (_key(names, columns, row) for row in (old, new))
        if before != after:
            yield from ((label, key) for key in (before, after) if key is not None)


def _keys(schema: Schema, table: Table) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Unique keys of a table, its foreign keys, and what foreign keys of others refer to in it."""
    for index in table.indexes:
        if index.unique:
            yield f"{table.name}.{index.name}", index.columns
    for key in table.foreign_keys:
        yield f"{table.name}->{key.name}", key.columns
    for other in schema.tables:
        for key in other.foreign_keys:
            if key.table == table.name:
                yield f"{other.name}->{key.name}", key.references


def _key(names: Sequence[str], columns: Sequence[str], row: Row | None) -> tuple[Value, ...] | None:
    """The values of a key; None if there is no row."""
    if row is None:
        return None
    return tuple(_folded(row[names.index(column)]) for column in columns)


def _folded(value: Value) -> Value:
    """Texts that some collation may hold for equal are one."""
    return value.casefold().rstrip() if isinstance(value, str) else value
