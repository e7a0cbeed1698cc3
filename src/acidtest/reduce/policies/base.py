"""What a policy is, and the loop that the three policies of chance share."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from acidtest.reduce.gate import Gate
from acidtest.reduce.operations import Layer, Operation
from acidtest.reduce.script import Edit, Script, apply


class Policy(Protocol):
    """Simplifies the gate's best case with the operations of a layer until none of them helps."""

    def simplify(self, layer: Layer, gate: Gate, dialect: str) -> None:
        """Try operations of the layer."""


PolicyMaker = Callable[[Random], Policy]


class Chance:
    """Draws an operation, then one of its edits; subclasses say how, and learn from what became of it.

    Fucci stops after a fixed number of tries; here a layer ends when no untried edit is left, so that all
    policies reach a minimum and differ in the runs they need.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def simplify(self, layer: Layer, gate: Gate, dialect: str) -> None:
        untried = self._untried(layer, gate, dialect)
        while untried:
            script, edits = untried
            operation = self.choose([one for one in layer.operations if edits[one.name]])
            edit = edits[operation.name].pop(self._rng.randrange(len(edits[operation.name])))
            before = gate.runs
            kept = gate.consider(apply(script, [edit]), layer.strict)
            if gate.runs > before:
                self.learn(layer, operation, kept)
            if kept:
                untried = self._untried(layer, gate, dialect)
            elif not any(edits.values()):
                return

    def choose(self, operations: Sequence[Operation]) -> Operation:
        """One of the operations that still have edits to try."""
        raise NotImplementedError

    def learn(self, layer: Layer, operation: Operation, kept: bool) -> None:
        """What became of a candidate that was run."""

    @staticmethod
    def _untried(layer: Layer, gate: Gate, dialect: str) -> tuple[Script, dict[str, list[Edit]]] | None:
        script = Script(gate.best, dialect)
        edits = {operation.name: list(operation.edits(script)) for operation in layer.operations}
        return (script, edits) if any(edits.values()) else None
