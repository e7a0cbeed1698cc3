"""`ddmin`: delta debugging over the edits of one operation after the other, in a fixed order."""

from random import Random

from acidtest.reduce.gate import Gate
from acidtest.reduce.operations import Layer, Operation
from acidtest.reduce.script import Script, apply


class Ddmin:
    """Many edits at once first, then ever fewer, down to single ones (Zeller and Hildebrandt, 2002).

    Complements are not tried: what a chunk leaves over is met again as chunks, and the layers repeat.
    """

    def __init__(self, rng: Random) -> None:
        del rng  # nothing is left to chance

    def simplify(self, layer: Layer, gate: Gate, dialect: str) -> None:
        for operation in layer.operations:
            self._exhaust(operation, gate, dialect, layer.strict)

    def _exhaust(self, operation: Operation, gate: Gate, dialect: str, strict: bool) -> None:
        script = Script(gate.best, dialect)
        edits = list(operation.edits(script))
        size = len(edits) if operation.together else 1
        while size and edits:
            start = 0
            while start < len(edits):
                if gate.consider(apply(script, edits[start : start + size]), strict):
                    script = Script(gate.best, dialect)
                    edits = list(operation.edits(script))
                else:
                    start += size
            size //= 2
