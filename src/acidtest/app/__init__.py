"""Application testing: find, force and explain the interleavings that break an application's data."""

from acidtest.app.explore import explore

__all__ = ["explore"]
