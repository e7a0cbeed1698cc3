"""Running the tools that fetch packages, with one sentence when they are missing or fail."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from acidtest.servers.base import InstallFailedError

WORDS_MAX = 300


def run_tool(
    command: Sequence[str],
    purpose: str,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda _line: None,
    hint: str = "",
) -> str:
    """Run a tool to its end and return its standard output; `on_line` sees every line as it comes."""
    if shutil.which(command[0]) is None:
        raise InstallFailedError(
            f"{purpose} needs the program {command[0]!r}, which is not on this machine{hint}"
        )
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines: list[str] = []
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                on_line(lines[-1])
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise InstallFailedError(f"{purpose} failed: {_complaint(lines)}; check the network, then try again")
    return "\n".join(lines)


def _complaint(lines: Sequence[str]) -> str:
    """The line that says most about a failure: an error if there is one, else the last line."""
    spoken = [line.strip() for line in lines if line.strip()]
    errors = [
        line for line in spoken if line.lower().startswith(("e:", "err", "npm err", "npm error", "fatal"))
    ]
    chosen = (errors or spoken or ["it gave no reason"])[-1 if not errors else 0]
    return chosen[:WORDS_MAX]
