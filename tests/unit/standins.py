"""Programs that stand in for go, mvn, npm and container engines: shell scripts first on PATH."""

import os
from pathlib import Path

import pytest


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, script: str) -> Path:
    """Put a script of that name first on PATH; returns the file to which it may log (`$LOG`)."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    log.touch()
    program = folder / name
    program.write_text(f"#!/bin/sh\nLOG='{log}'\n{script}\n")
    program.chmod(0o755)
    if str(folder) not in os.environ["PATH"].split(":"):
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def hide(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A PATH on which there is nothing but a shell's basics."""
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PATH", str(folder))
