"""The protocol: launch, watch, resume. A case and a target give a history."""

from acidtest.execute.executor import DiedLaterError, Executor
from acidtest.execute.feed import CaseFeed, Feed
from acidtest.execute.run import Limits

__all__ = ["CaseFeed", "DiedLaterError", "Executor", "Feed", "Limits"]
