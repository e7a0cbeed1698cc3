"""A DBMS in memory with locks and versions of its own, and faults that can be planted in it.

It can be one of several engines, which differ in how transactions meet (`behaviours.py`). It shares only the
meaning of SQL expressions with the oracles, none of their reasoning about isolation, so that it can prove
them: without a fault nothing may be reported, with one something must.
"""

from acidtest.simulated.behaviours import BEHAVIOURS, LOCKING, Behaviour
from acidtest.simulated.catalogue import FAULTS, case_file, fault_named, faults_of, levels_of, spec_of
from acidtest.simulated.engine import Connection, Engine
from acidtest.simulated.faults import Fault

__all__ = [
    "BEHAVIOURS",
    "FAULTS",
    "LOCKING",
    "Behaviour",
    "Connection",
    "Engine",
    "Fault",
    "case_file",
    "fault_named",
    "faults_of",
    "levels_of",
    "spec_of",
]
