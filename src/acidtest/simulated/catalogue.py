"""All planted faults by engine and name, and the smallest case of each."""

from pathlib import Path

from acidtest.model import Level
from acidtest.simulated import faults
from acidtest.simulated.behaviours import BEHAVIOURS, LOCKING
from acidtest.simulated.faults import Fault
from acidtest.simulated.snapshots import faults as of_snapshots

_ALL = (*faults.FAULTS, *of_snapshots.FAULTS)


def faults_of(engine: str) -> tuple[Fault, ...]:
    """The faults that can be planted in an engine."""
    return tuple(fault for fault in _ALL if engine in fault.engines)


FAULTS = faults_of(LOCKING.name)
"""Those of the engine that is there without further words."""


def fault_named(name: str, engine: str = LOCKING.name) -> Fault | None:
    """The fault of that name in an engine."""
    return next((fault for fault in faults_of(engine) if fault.name == name), None)


def levels_of(fault: Fault, engine: str = LOCKING.name) -> tuple[Level, ...]:
    """The levels of an engine at which the fault can show."""
    return fault.levels if engine == LOCKING.name else BEHAVIOURS[engine].levels


def case_file(fault: Fault, engine: str = LOCKING.name) -> Path:
    """The file of the smallest case whose history differs when the fault is planted; engines may need their
    own."""
    cases = Path(__file__).parent / "cases"
    own = cases / engine / f"{fault.name}.sql"
    return own if own.exists() else cases / f"{fault.name}.sql"


def spec_of(engine: str, fault: Fault | None = None) -> str:
    """How the engine is written as a target, with a fault in it or none."""
    name = f"simulated@{fault.name}" if fault else "simulated"
    return name if engine == LOCKING.name else f"{name}?engine={engine}"
