"""Strongly connected parts of a graph of dependencies, and shortest cycles of a pattern within them.

A cycle lies within one strongly connected part, so everything outside is left alone.
"""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from acidtest.model import Dependency, DependencyKind

Edges = Sequence[Dependency]


def strong_parts(edges: Iterable[Dependency]) -> list[frozenset[int]]:
    """The strongly connected parts of more than one transaction (Tarjan, without recursion)."""
    followers: dict[int, list[int]] = {}
    for edge in edges:
        followers.setdefault(edge.source, []).append(edge.target)
        followers.setdefault(edge.target, [])
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    parts: list[frozenset[int]] = []
    for root, first in followers.items():
        if root in index:
            continue
        work: list[tuple[int, Iterator[int]]] = [(root, iter(first))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            advanced = False
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(followers[other])))
                    advanced = True
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                part: set[int] = set()
                while node not in part:
                    part.add(stack.pop())
                on_stack -= part
                if len(part) > 1:
                    parts.append(frozenset(part))
    return parts


def inside(edges: Iterable[Dependency], part: frozenset[int]) -> list[Dependency]:
    """The edges between members of a part."""
    return [one for one in edges if one.source in part and one.target in part]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which cycles are looked for: one edge of `first`, and others of `rest`, in any order but for the rules.

    `antis`: how many anti-dependencies it has at least, the first edge included. `apart`: no two of these
    follow each other. `needs`: an edge of one of these kinds is among them.
    """

    first: frozenset[DependencyKind]
    rest: frozenset[DependencyKind]
    antis: int = 0
    apart: bool = False
    needs: frozenset[DependencyKind] = frozenset()


class _State(NamedTuple):
    """How far a path along a pattern is."""

    antis: int
    ends_in_anti: bool
    has_needed: bool


def shortest_cycle(edges: Edges, pattern: Pattern) -> tuple[Dependency, ...] | None:
    """A shortest cycle of that pattern, in which no transaction comes twice.

    Breadth first from every transaction that has a first edge, over pairs of a transaction and how far the
    pattern is: linear in the edges for each of them. A shortest way round that meets a transaction twice is
    made of smaller cycles, and is left to these.
    """
    allowed = [one for one in edges if one.kind in pattern.first or one.kind in pattern.rest]
    best: tuple[Dependency, ...] | None = None
    for part in strong_parts(allowed):
        followers: dict[int, list[Dependency]] = {}
        for edge in inside(allowed, part):
            followers.setdefault(edge.source, []).append(edge)
        for start in followers:
            found = _round_trip(followers, start, pattern, None if best is None else len(best))
            if found is not None:
                best = found
            if best is not None and len(best) == _LEAST:
                return best
    return best


_LEAST = 2
"""The fewest edges of a cycle between different transactions."""


def _round_trip(
    followers: dict[int, list[Dependency]], start: int, pattern: Pattern, less_than: int | None
) -> tuple[Dependency, ...] | None:
    """A shortest way along a pattern from a transaction back to itself, if it is simple."""
    came: dict[tuple[int, _State], tuple[Dependency, tuple[int, _State] | None]] = {}
    queue: deque[tuple[tuple[int, _State], int]] = deque()
    for edge in followers[start]:
        if edge.kind in pattern.first:
            node = (edge.target, _after(_State(0, False, False), edge, pattern))
            if node not in came:
                came[node] = (edge, None)
                queue.append((node, 1))
    while queue:
        node, length = queue.popleft()
        if less_than is not None and length >= less_than:
            return None
        here, state = node
        if here == start:
            if _is_complete(state, pattern):
                path = _path(came, node)
                return path if len({one.source for one in path}) == len(path) else None
            continue
        for edge in followers.get(here, ()):
            if edge.kind not in pattern.rest or (pattern.apart and state.ends_in_anti and edge.kind.is_anti):
                continue
            following = (edge.target, _after(state, edge, pattern))
            if following not in came:
                came[following] = (edge, node)
                queue.append((following, length + 1))
    return None


def _after(state: _State, edge: Dependency, pattern: Pattern) -> _State:
    antis = min(state.antis + edge.kind.is_anti, pattern.antis)
    needed = state.has_needed or edge.kind in pattern.needs
    return _State(antis, pattern.apart and edge.kind.is_anti, needed)


def _is_complete(state: _State, pattern: Pattern) -> bool:
    # The first edge is an anti-dependency where they must stand apart, so the last one must be none.
    together = pattern.apart and state.ends_in_anti
    return state.antis >= pattern.antis and not together and (state.has_needed or not pattern.needs)


def _path(
    came: dict[tuple[int, _State], tuple[Dependency, tuple[int, _State] | None]], node: tuple[int, _State]
) -> tuple[Dependency, ...]:
    path: list[Dependency] = []
    at: tuple[int, _State] | None = node
    while at is not None:
        edge, at = came[at]
        path.append(edge)
    return tuple(reversed(path))


def shortest_path(
    edges: Iterable[Dependency], start: int, ends: Container[int]
) -> tuple[Dependency, ...] | None:
    """A shortest path from a transaction to one of others; empty if it is one of them."""
    followers: dict[int, list[Dependency]] = {}
    for edge in edges:
        followers.setdefault(edge.source, []).append(edge)
    came: dict[int, Dependency | None] = {start: None}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if node in ends:
            path: list[Dependency] = []
            while (edge_in := came[node]) is not None:
                path.append(edge_in)
                node = edge_in.source
            return tuple(reversed(path))
        for edge in followers.get(node, ()):
            if edge.target not in came:
                came[edge.target] = edge
                queue.append(edge.target)
    return None
