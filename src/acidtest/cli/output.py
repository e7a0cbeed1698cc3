"""Writing where nobody may read: a reader that went away, a full disk, a closed stream."""

import os
import select
import sys
from contextlib import suppress
from typing import TextIO

import click

STANDARD_FILES = (0, 1, 2)


def say(text: str) -> None:
    """A line on stderr. That it cannot be written must not end what goes on."""
    with suppress(OSError, ValueError):
        click.echo(text, err=True)


def occupy_standard_files() -> None:
    """Where stdin, stdout or stderr was closed (`2>&-`), no other file may get its number: whatever writes
    messages there, a driver or a server, would write them into that file."""
    for number in STANDARD_FILES:
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest free number


def reader_is_gone() -> bool:
    """Whether what was written to stdout will never be read (`| head`)."""
    try:
        sys.stdout.flush()
        poller = select.poll()  # unbuffered, nothing is left to flush, but the pipe knows
        poller.register(sys.stdout, 0)
        return any(event & select.POLLERR for _, event in poller.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError):  # no file of the system's, so no pipe
        return False


def let_go() -> None:
    """Flush stdout and stderr. What cannot be written is dropped: Python would try again at its end, and give
    an exit code of its own."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _flush(stream)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
