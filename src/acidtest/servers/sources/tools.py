"""Running the tools that fetch packages, with one sentence when they are missing or fail."""

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from acidtest.servers.base import InstallFailedError

CHARACTERS_MAX = 400
ERRORS_MAX = 2
INTERRUPT_SECONDS_MAX = 10
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
ERROR = re.compile(
    r"(?:E:|npm err(?:or)?!?|\[?(?:ERROR|FATAL)\]?:?|error:|fatal:"
    r"|go:(?! downloading| finding| found| added))\s+(\S.*)"
)
"""How apt, npm, mvn, pip, dpkg, go and others begin a line that tells what is wrong."""


def lacking(programs: Sequence[str], remedy: str) -> str:
    """Which of these programs are not on this machine, and the remedy, in one sentence; empty: none."""
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return ""
    return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on this machine; {remedy}"


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
            _interrupt(process)
            raise
    if process.returncode != 0:
        raise InstallFailedError(f"{purpose} failed: {_complaint(lines)}; check the network, then try again")
    return "\n".join(lines)


def _interrupt(process: "subprocess.Popen[str]") -> None:
    """End a tool as Ctrl-C would, so that it ends what it started too (go's compilers, java below mvn)."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(INTERRUPT_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()


def _complaint(lines: Sequence[str]) -> str:
    """The lines that say most about a failure: the first errors if there are any, else the last line."""
    spoken = [text for line in lines if (text := ANSI.sub("", line).strip())]
    errors = [match[1] for line in spoken if (match := ERROR.match(line))]
    return "; ".join(errors[:ERRORS_MAX] or spoken[-1:] or ["it gave no reason"])[:CHARACTERS_MAX]
