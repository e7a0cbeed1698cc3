"""Strongly connected parts of a graph of dependencies, and shortest cycles through one of them.

A cycle lies within one strongly connected part, so everything outside is left alone.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from acidtest.model import Dependency

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


def shortest_path(edges: Iterable[Dependency], start: int, end: int) -> tuple[Dependency, ...] | None:
    """A shortest path from one transaction to another; empty if they are the same."""
    followers: dict[int, list[Dependency]] = {}
    for edge in edges:
        followers.setdefault(edge.source, []).append(edge)
    reached: dict[int, tuple[Dependency, ...]] = {start: ()}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if node == end:
            return reached[node]
        for edge in followers.get(node, ()):
            if edge.target not in reached:
                reached[edge.target] = (*reached[node], edge)
                queue.append(edge.target)
    return None


def shortest_cycle(through: Iterable[Dependency], others: Edges) -> tuple[Dependency, ...] | None:
    """A shortest cycle of one edge of the first kind and any number of the others."""
    best: tuple[Dependency, ...] | None = None
    for edge in through:
        rest = shortest_path(others, edge.target, edge.source)
        if rest is not None and (best is None or len(rest) + 1 < len(best)):
            best = (edge, *rest)
    return best
