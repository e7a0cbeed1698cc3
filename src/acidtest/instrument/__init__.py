"""Instrumented cases: tables whose rows carry an identity and versions, so that a run shows what it read."""

from acidtest.instrument.cases import NotInstrumentableError, Server, instrument
from acidtest.instrument.columns import is_instrumented
from acidtest.instrument.observing import Observed, observe
from acidtest.instrument.probes import Probes, probes_of

__all__ = [
    "NotInstrumentableError",
    "Observed",
    "Probes",
    "Server",
    "instrument",
    "is_instrumented",
    "observe",
    "probes_of",
]
