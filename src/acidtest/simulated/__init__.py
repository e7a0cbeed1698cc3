"""A DBMS in memory with locks and versions of its own, and faults that can be planted in it.

It shares only the meaning of SQL expressions with the oracles, none of their reasoning about isolation, so
that it can prove them: without a fault nothing may be reported, with one something must.
"""

from acidtest.simulated.engine import Connection, Engine
from acidtest.simulated.faults import FAULTS, Fault, case_file, fault_named

__all__ = ["FAULTS", "Connection", "Engine", "Fault", "case_file", "fault_named"]
