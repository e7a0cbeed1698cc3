"""`random`: every operation is as likely as any other (Fucci's baseline)."""

from collections.abc import Sequence

from acidtest.reduce.operations import Operation
from acidtest.reduce.policies.base import Chance


class Uniform(Chance):
    """Learns nothing."""

    def choose(self, operations: Sequence[Operation]) -> Operation:
        return self._rng.choice(operations)
