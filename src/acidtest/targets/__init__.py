"""DBMSs under test, one file per family. Drivers are imported only here, and only when needed."""

from acidtest.targets.base import ForeignSession, Guest, Session, Target, Waits, Watch

__all__ = ["ForeignSession", "Guest", "Session", "Target", "Waits", "Watch"]
