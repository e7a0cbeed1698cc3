"""`table`: Fucci's dynamic probability table, which makes what worked likelier (3.3)."""

from collections.abc import Sequence
from random import Random

from acidtest.reduce.operations import Layer, Operation
from acidtest.reduce.policies.base import Chance

RAISED, LOWERED = 1.25, 0.8
"""The paper gives no factors; with these one success makes up for one failure."""

WEIGHT_MIN, WEIGHT_MAX = 0.05, 20.0
"""No operation is ever out of the question, and none is the only one."""


class ProbabilityTable(Chance):
    """Keeps a weight for every operation; the probabilities of a layer are its shares of their sum."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._weights: dict[str, float] = {}

    def choose(self, operations: Sequence[Operation]) -> Operation:
        weights = [self._weights.get(operation.name, 1.0) for operation in operations]
        return self._rng.choices(operations, weights)[0]

    def learn(self, layer: Layer, operation: Operation, kept: bool) -> None:
        del layer
        weight = self._weights.get(operation.name, 1.0) * (RAISED if kept else LOWERED)
        self._weights[operation.name] = min(max(weight, WEIGHT_MIN), WEIGHT_MAX)
