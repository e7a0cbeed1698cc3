"""Findings on disk: a folder each, that is there as a whole or not at all."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acidtest.errors import UsageError
from acidtest.findings.finding import Finding, finding_from_json
from acidtest.report.findings import report

MINIMAL = "minimal.sql"
OBSERVED = "observed.sql"
ORIGINAL = "original.sql"
REPORT = "report.md"
DATA = "finding.json"

_NAME = re.compile(r"(\d{3,})-\w+")
_UNFINISHED = re.compile(r"\.writing-(\d+)-.*")
"""Not whole yet; the number is the process that writes it."""


def write_finding(parent: Path, number: int, finding: Finding) -> Path:
    """Store a finding as `NNN-DIGEST` in a folder, which is made if need be; what a crash left is swept.

    One that has the same name is replaced: a campaign that was killed may find it again.
    """
    folder = parent / folder_name(number, finding)
    with _told_in_one_sentence(folder):
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
        if folder.exists():
            rewrite(folder, finding)
            return folder
        unfinished = parent / f".writing-{os.getpid()}-{folder.name}"
        try:
            unfinished.mkdir()
            for name, content in _files(finding):
                (unfinished / name).write_bytes(content)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def rewrite(folder: Path, finding: Finding) -> None:
    """Store what has become known of a finding since; each file is the old one or the new one, never half."""
    with _told_in_one_sentence(folder):
        _sweep(folder)
        for name, content in _files(finding):
            unfinished = folder / f".writing-{os.getpid()}-{name}"
            try:
                unfinished.write_bytes(content)
                unfinished.replace(folder / name)
            finally:
                unfinished.unlink(missing_ok=True)


def folder_name(number: int, finding: Finding) -> str:
    """What the folder of a finding is called."""
    return f"{number:03d}-{finding.digest}"


def number_of(folder: Path) -> int | None:
    """The number of a finding, from the name of its folder; None if it was given another name."""
    match = _NAME.fullmatch(folder.resolve().name)
    return None if match is None else int(match[1])


def read_findings(parent: Path) -> list[tuple[Path, Finding]]:
    """All findings of a folder with their own folders, by number; other folders are passed by."""
    try:
        folders = [one for one in parent.iterdir() if (one / DATA).exists() and not one.name.startswith(".")]
    except OSError as problem:
        raise UsageError(f"{parent} cannot be read: {_reason(problem)}") from problem
    folders.sort(key=lambda folder: (number_of(folder) or 0, folder.name))
    return [(folder, read_finding(folder)) for folder in folders]


def read_finding(folder: Path) -> Finding:
    """The finding in a folder; what is damaged, or something else, is a `UsageError` with its place."""
    path = folder / DATA
    data = _load(path)
    try:
        return finding_from_json(data)
    except ValueError as problem:
        raise UsageError(f"{path} is damaged: {problem}") from problem


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{path.parent} is no finding, there is no {path.name} in it") from None
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {_reason(problem)}") from problem
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path} is damaged: it is not JSON ({problem})") from None


def _files(finding: Finding) -> Iterator[tuple[str, bytes]]:
    """The data come last, so that a rewritten report is never older than they are."""
    yield MINIMAL, _encoded(finding.minimal)
    yield OBSERVED, _encoded(finding.observed)
    yield ORIGINAL, _encoded(finding.original)
    yield REPORT, _encoded(report(finding))
    yield DATA, _encoded(json.dumps(finding.to_json(), indent=2) + "\n")


def _encoded(text: str) -> bytes:
    # A DBMS may answer with what is no character; a finding must not be lost over it.
    return text.encode("utf-8", "backslashreplace")


def _sweep(folder: Path) -> None:
    """Remove what writers left that were killed; those that still live may be at work."""
    for leftover in folder.iterdir():
        match = _UNFINISHED.fullmatch(leftover.name)
        if match is None or _lives(int(match[1])):
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    if process == os.getpid():
        return False  # one thread writes, so it is of an earlier process with the same number
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _told_in_one_sentence(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise UsageError(f"{folder} cannot be written: {_reason(problem)}") from problem


def _reason(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()
