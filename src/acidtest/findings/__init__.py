"""Findings: violations that were re-run, reduced, named, compared and stored, ready for a tracker."""

from acidtest.findings.finding import Finding, Sighting

__all__ = ["Finding", "Sighting"]
