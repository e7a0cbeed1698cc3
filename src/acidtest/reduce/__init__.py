"""The reducer: from a case that shows a violation to the smallest one that still does; docs/reducer.md."""

from acidtest.reduce.gate import Limits, Progress
from acidtest.reduce.order import characters, order, switches
from acidtest.reduce.policies import DEFAULT_POLICY, POLICIES
from acidtest.reduce.reducer import LayerSteps, Reduction, reduce_case

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "LayerSteps",
    "Limits",
    "Progress",
    "Reduction",
    "characters",
    "order",
    "reduce_case",
    "switches",
]
