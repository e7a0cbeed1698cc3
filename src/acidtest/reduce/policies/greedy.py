"""`greedy`: Fucci's Epsilon-Greedy algorithm (3.3, equations 1 and 2)."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from acidtest.reduce.operations import Layer, Operation
from acidtest.reduce.policies.base import Chance

EPSILON = 0.1
"""How often chance decides instead of experience. The paper does not say what it used."""


class Greedy(Chance):
    """Takes the operation with the highest average profit: 1 for a candidate that was kept, 0 for others.

    The averages are real ones: equation 2 divides by the number of all steps, which would let an operation's
    first profits count for more the earlier it was tried; here each is divided by its own tries.
    """

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._profit: dict[str, float] = {}
        self._tries: Counter[str] = Counter()

    def choose(self, operations: Sequence[Operation]) -> Operation:
        if self._rng.random() < EPSILON:
            return self._rng.choice(operations)
        # What was never tried may be the best: it is tried once before averages are compared.
        return max(operations, key=lambda one: self._profit.get(one.name, 1.0))

    def learn(self, layer: Layer, operation: Operation, kept: bool) -> None:
        del layer
        name = operation.name
        self._tries[name] += 1
        known = self._profit.get(name, 0.0)
        self._profit[name] = known + (kept - known) / self._tries[name]
