"""The layers in their order: what takes away most comes first, what only pleases the eye last."""

from acidtest.reduce.layers.constants import CONSTANTS
from acidtest.reduce.layers.definitions import DEFINITIONS
from acidtest.reduce.layers.expressions import EXPRESSIONS
from acidtest.reduce.layers.marks import MARKS
from acidtest.reduce.layers.names import NAMES
from acidtest.reduce.layers.parts import PARTS
from acidtest.reduce.layers.schedule import SCHEDULE
from acidtest.reduce.layers.statements import STATEMENTS
from acidtest.reduce.operations import Layer

LAYERS = (
    Layer("statements", (*STATEMENTS, *MARKS)),
    Layer("parts", (*PARTS, *DEFINITIONS)),
    Layer("expressions", EXPRESSIONS),
    Layer("constants", CONSTANTS),
    Layer("schedule", SCHEDULE, strict=True),
    Layer("names", NAMES),
)

__all__ = ["LAYERS"]
