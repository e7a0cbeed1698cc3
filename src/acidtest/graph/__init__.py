"""Dependencies between the transactions of a trace, their cycles, and the names of these (Adya)."""

from acidtest.graph.dependencies import dependencies
from acidtest.graph.phenomena import Occurrence, phenomena
from acidtest.graph.statements import project, statement_dependencies

__all__ = ["Occurrence", "dependencies", "phenomena", "project", "statement_dependencies"]
