"""Becomes a server: drops root, ties its life to acidtest's, and executes the command it was given.

A process of its own, because `preexec_fn` runs Python between fork and exec, where a lock that another thread
of ours held at the fork is never released. Run as a script, with the number of a descriptor that holds the
order as JSON. The order brings the environment along, which may name libraries that Python cannot load. Few
modules are imported, since every start of a server waits for them.
"""

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
CANNOT_RUN = 127
"""The exit code where the command cannot be executed; the sentence is on standard error."""


def write_order(
    command: list[str], environment: dict[str, str], owner: int | None, death_signal: int | None
) -> int:
    """The descriptor of a file in memory with the arguments of `become`, to be read from its beginning."""
    order = {
        "command": command,
        "environment": environment,
        "owner": owner,
        "death_signal": death_signal,
        "parent": os.getpid(),
    }
    descriptor = os.memfd_create("acidtest-order")
    with os.fdopen(os.dup(descriptor), "w") as file:
        json.dump(order, file)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def become(
    command: list[str], environment: dict[str, str], owner: int | None, death_signal: int | None, parent: int
) -> None:
    """Execute the command, whose program is a path, as the owner; the kernel sends the signal when the thread
    that started us ends. Never returns.

    Whatever is imported is imported before: the owner may not be able to read Python's own files."""
    if owner is not None:
        os.setgroups([])
        os.setgid(owner)
        os.setuid(owner)
    if death_signal is not None:
        _die_with(parent, death_signal)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a server would inherit that
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        os.write(sys.stderr.fileno(), f"cannot run {command[0]}: {error.strerror}\n".encode())
        os._exit(CANNOT_RUN)


def _die_with(parent: int, number: int) -> None:
    """After the change of the user, which would clear the setting."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before the setting took effect
        os._exit(1)


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1])) as source:
        order = json.load(source)
    become(**order)
