"""PostgreSQL's isolation tests: specs become cases, and runs are compared with recorded outputs.

The format is that of src/test/isolation in PostgreSQL's sources; docs/isolation-specs.md says what of it
acidtest follows.
"""

from acidtest.casefile.isolation.compare import Difference, compare
from acidtest.casefile.isolation.permutations import Permutation, permutations
from acidtest.casefile.isolation.reader import load_spec, parse_spec
from acidtest.casefile.isolation.recorded import Recorded, find_recorded, load_recorded
from acidtest.casefile.isolation.spec import Spec

__all__ = [
    "Difference",
    "Permutation",
    "Recorded",
    "Spec",
    "compare",
    "find_recorded",
    "load_recorded",
    "load_spec",
    "parse_spec",
    "permutations",
]
