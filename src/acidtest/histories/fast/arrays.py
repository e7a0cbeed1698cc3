"""Numbers out of text, and acyclic graphs, by arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_DIGITS_MAX = 18


def numbers(data: Bytes) -> tuple[Ints, Ints] | None:
    """The runs of digits as numbers, and where they begin; None if one of them is too long."""
    digit = (data - np.uint8(48)) < 10
    bounds = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    if len(data) and digit[0]:
        bounds = np.concatenate(([0], bounds))
    if len(data) and digit[-1]:
        bounds = np.concatenate((bounds, [len(data)]))
    starts, lengths = bounds[::2], bounds[1::2] - bounds[::2]
    longest = int(lengths.max(initial=0))
    if longest > _DIGITS_MAX:
        return None
    values = np.zeros(len(starts), np.int64)
    values += data[starts] - np.uint8(48) if len(starts) else 0
    for place in range(1, longest):
        longer = np.flatnonzero(lengths > place)
        values[longer] = values[longer] * 10 + (data[starts[longer] + place] - np.uint8(48))
    return values, starts


def is_acyclic(count: int, edges: list[tuple[Ints, Ints]]) -> bool:
    """Whether a graph of this many nodes has no cycle."""
    sources = np.concatenate([one for one, _ in edges])
    targets = np.concatenate([two for _, two in edges])
    if not len(sources):
        return True
    if bool((sources < targets).all()):
        return True
    ones: Any = np.ones(len(sources), np.int8)
    graph = coo_matrix(
        (ones, (sources.astype(np.int32), targets.astype(np.int32))), shape=(count, count)
    ).tocsr()
    parts, _ = connected_components(graph, directed=True, connection="strong")
    return bool(parts == count)


def session_edges(sessions: Ints, chosen: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Each chosen transaction and the one before it in its session."""
    members = np.flatnonzero(chosen)
    order = members[np.argsort(sessions[members], kind="stable")]
    same = sessions[order[1:]] == sessions[order[:-1]]
    return order[:-1][same], order[1:][same]


def time_edges(began: Ints, ended: Ints, members: Ints, closed: Ints, base: int) -> list[tuple[Ints, Ints]]:
    """A chain of nodes from `base` on, one for each end; see graphs.follow_time."""
    nodes = base + np.arange(len(closed))
    before = np.searchsorted(ended[closed], began[members])
    late = before > 0
    return [(closed, nodes), (nodes[:-1], nodes[1:]), (nodes[before[late] - 1], members[late])]
