"""An operation is one kind of change; it lists the places where a script could be changed so."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from acidtest.reduce.script import Edit, Script


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of change. Where `together`, several of its edits may be tried in one candidate."""

    name: str
    edits: Callable[[Script], Iterable[Edit]]
    together: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """Operations of equal priority (Fucci 3.3). A `strict` layer goes by the stricter check."""

    name: str
    operations: tuple[Operation, ...]
    strict: bool = False
