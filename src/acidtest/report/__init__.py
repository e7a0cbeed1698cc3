"""Ways to tell what happened: as a case file with comments, and as JSON."""

from acidtest.report.as_json import run_to_json
from acidtest.report.observed import print_history
from acidtest.report.verdicts import allowed_phenomena, disagreement, print_verdicts, verdict_to_json

__all__ = [
    "allowed_phenomena",
    "disagreement",
    "print_history",
    "print_verdicts",
    "run_to_json",
    "verdict_to_json",
]
