"""The protocol: launch, watch, resume. A case and a target give a history."""

from acidtest.execute.executor import DiedLaterError, Executor
from acidtest.execute.run import Limits

__all__ = ["DiedLaterError", "Executor", "Limits"]
