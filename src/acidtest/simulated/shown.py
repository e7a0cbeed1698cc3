"""For each fault the smallest case whose history differs when it is planted."""

from functools import cache
from importlib import resources
from pathlib import Path

from acidtest.casefile import load_case
from acidtest.model import Case
from acidtest.simulated.faults import Fault


@cache
def showing_case(fault: Fault) -> Case:
    """The case in `cases/` that shows the fault."""
    return load_case(
        Path(str(resources.files(__name__.rpartition(".")[0]).joinpath("cases"))) / f"{fault.name}.sql"
    )
