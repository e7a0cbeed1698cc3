"""Ways to tell what happened: as a case file with comments, and as JSON."""

from acidtest.report.as_json import run_to_json
from acidtest.report.observed import print_history

__all__ = ["print_history", "run_to_json"]
