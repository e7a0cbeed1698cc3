"""Histories that others recorded: readers of their formats, and which consistency models they keep."""

from acidtest.histories.anomalies import Anomaly, Basis, Flaw, Link, Observation, Relation
from acidtest.histories.checking import Checked, Options, against, check_file
from acidtest.histories.export import export, write_history
from acidtest.histories.formats import FORMATS, open_history
from acidtest.histories.models import MODELS, Model, Standing, find_model, strongest, weakest
from acidtest.histories.registers import Assumption

__all__ = [
    "FORMATS",
    "MODELS",
    "Anomaly",
    "Assumption",
    "Basis",
    "Checked",
    "Flaw",
    "Link",
    "Model",
    "Observation",
    "Options",
    "Relation",
    "Standing",
    "against",
    "check_file",
    "export",
    "find_model",
    "open_history",
    "strongest",
    "weakest",
    "write_history",
]
