"""Dependencies between the transactions of a trace, their cycles, and the names of these (Adya)."""

from acidtest.graph.dependencies import dependencies
from acidtest.graph.phenomena import Occurrence, phenomena

__all__ = ["Occurrence", "dependencies", "phenomena"]
