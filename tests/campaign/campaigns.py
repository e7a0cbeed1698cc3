"""Campaigns as processes of their own, for tests that kill them or what they started."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from acidtest.campaign.store import FILE

SABOTAGE = Path(__file__).parent / "sabotage"


def _sabotaged_path() -> str:
    return os.pathsep.join(filter(None, [str(SABOTAGE), os.environ.get("PYTHONPATH")]))


class Campaigns:
    """Starts campaigns in a folder and sees to it that none outlives the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **sabotage: str) -> subprocess.Popen[str]:
        """A campaign, perhaps with faults that `sabotage/sitecustomize.py` knows."""
        command = [sys.executable, "-m", "acidtest", "fuzz", *arguments, "--no-elsewhere", "--json"]
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=_sabotaged(sabotage) if sabotage else None,
        )
        self._started.append(process)
        return process

    def run(self, *arguments: str, **sabotage: str) -> tuple[int, dict[str, Any]]:
        """Exit code and summary of a campaign that is left alone."""
        return self.finish(self.start(*arguments, **sabotage))

    def finish(self, process: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
        out, err = process.communicate(timeout=250)
        assert out, err
        return process.returncode, json.loads(out)

    def wait_until_under_way(self, process: subprocess.Popen[str], out: str, cases: int = 1) -> None:
        until = time.monotonic() + 200
        while self.advanced(out) < cases:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)

    def advanced(self, out: str) -> int:
        """How many cases the store of a running campaign knows of."""
        path = self._folder / out / FILE
        if not path.exists():
            return 0
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                return int(database.execute("SELECT coalesce(sum(position), 0) FROM chunks").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # it is just being made

    def positions(self, out: str) -> list[tuple[str, str, int, int]]:
        """How far the chunks of a campaign were examined."""
        with closing(sqlite3.connect(self._folder / out / FILE)) as database:
            return list(
                database.execute("SELECT target, levels, number, position FROM chunks ORDER BY 1, 2, 3")
            )

    def stop(self) -> None:
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _sabotaged(faults: dict[str, str]) -> dict[str, str]:
    """The environment with faults in it; what the user's path names is still found."""
    path = os.pathsep.join(filter(None, (str(SABOTAGE), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, **faults}


def workers_of(campaign: subprocess.Popen[str]) -> list[int]:
    """The processes of a campaign's workers."""
    return [number for number, command in descendants(campaign.pid) if "spawn_main" in command]


def descendants(parent: int) -> Iterator[tuple[int, str]]:
    """Processes below one, with their command lines."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (above := _parent(entry)) is not None:
            parents.setdefault(above, []).append(int(entry.name))
    waiting = [parent]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            waiting.append(child)
            yield child, _command(child)


def _parent(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None  # gone meanwhile


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
