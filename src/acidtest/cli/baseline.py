"""`--baseline`: findings that were there before do not count."""

from pathlib import Path

import click

from acidtest.cli.options import Decorator
from acidtest.errors import UsageError
from acidtest.findings.baseline import Baseline, baseline_of, read_baseline
from acidtest.findings.groups import Stored
from acidtest.report.folder import DATA, read_finding, read_findings

CAMPAIGN = "campaign.sqlite"

baseline_option: Decorator = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE",
    help="What this campaign, folder or file (--write-baseline) has found before does not count.",
)


def stored_in(directory: Path) -> list[Stored]:
    """The findings of a campaign, of a folder of findings, or the one in its folder."""
    if not directory.is_dir():
        raise UsageError(f"{directory} is {'no directory' if directory.exists() else 'not there'}")
    if (directory / DATA).exists():
        return [(directory, read_finding(directory))]
    if (directory / "findings").is_dir():
        return read_findings(directory / "findings")
    if (directory / CAMPAIGN).exists():
        return []  # it has found nothing yet
    found = read_findings(directory)
    if not found and any(directory.iterdir()):
        raise UsageError(f"{directory} is neither the directory of a campaign nor a folder of findings")
    return found


def load_baseline(path: Path | None) -> Baseline:
    """What was found before; nothing if no baseline was named."""
    if path is None:
        return Baseline()
    if path.is_dir():
        return baseline_of(finding for _, finding in stored_in(path))
    return read_baseline(path)
