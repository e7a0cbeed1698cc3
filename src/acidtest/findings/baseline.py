"""What was found before: a later campaign, or CI, only has to care about the rest."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acidtest.codec import DecodingError, decode, encode
from acidtest.errors import UsageError
from acidtest.findings.cause import Cause
from acidtest.findings.finding import Finding

FORMAT = "acidtest-baseline/1"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Causes that were found, and digests of findings that older versions stored without a cause."""

    causes: frozenset[Cause] = frozenset()
    digests: frozenset[str] = frozenset()

    def has(self, finding: Finding) -> bool:
        """Whether a finding of this cause was there."""
        if finding.identity is None:
            return finding.digest in self.digests
        return finding.identity.cause in self.causes or finding.digest in self.digests

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {"format": FORMAT, **encode(self)}


def baseline_of(findings: Iterable[Finding]) -> Baseline:
    """A baseline that has all of these."""
    known = list(findings)
    causes = frozenset(one.identity.cause for one in known if one.identity is not None)
    return Baseline(causes, frozenset(one.digest for one in known))


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"the baseline {path} cannot be read: {reason}") from problem
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"the baseline {path} is damaged: it is not JSON ({problem})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"the baseline {path} is not of the format {FORMAT}")
    try:
        return decode(data, Baseline)
    except DecodingError as problem:
        raise UsageError(f"the baseline {path} is damaged: {problem}") from problem


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Store a baseline."""
    try:
        path.write_text(json.dumps(baseline.to_json(), indent=2) + "\n", encoding="utf-8")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"the baseline {path} cannot be written: {reason}") from problem
