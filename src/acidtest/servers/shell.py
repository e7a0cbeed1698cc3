"""The native client on a running server: one in this terminal, or several side by side in tmux."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from acidtest.errors import UsageError
from acidtest.servers.api import installed
from acidtest.servers.base import Installation
from acidtest.servers.flavours import FLAVOURS
from acidtest.servers.running import RunningServer

CLIENTS_MAX = 16


def client_command(server: RunningServer) -> list[str]:
    """The command that opens the native client: the server's own, else one that speaks the same protocol."""
    flavour = FLAVOURS[server.dbms]
    arguments = flavour.client_arguments(server.endpoint)
    for installation in _with_client(server):
        return [*_environment(installation), *installation.command("client"), *arguments]
    for name in flavour.client_names():
        if program := shutil.which(name):
            return [program, *arguments]
    names = " or ".join(flavour.client_names())
    raise UsageError(
        f"no client for {server.dbms} is installed: install {names}, or connect with a tool of yours"
    )


def open_shell(server: RunningServer, count: int) -> int:
    """Open so many clients and wait until they are left; returns the exit code."""
    if not 1 <= count <= CLIENTS_MAX:
        raise UsageError(f"--count must be between 1 and {CLIENTS_MAX}, not {count}")
    command = client_command(server)
    with _interrupts_left_to_the_client():
        return _panes(command, count) if count > 1 else subprocess.run(command, check=False).returncode


@contextmanager
def _interrupts_left_to_the_client() -> Iterator[None]:
    """Ctrl-C cancels a statement in the client and must not end us. Ignoring it would be inherited."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _with_client(server: RunningServer) -> list[Installation]:
    """Installations that bring a client for this server: its own one first."""
    names = FLAVOURS[server.dbms].client_names()
    clients = [(one, os.path.basename(one.parts.get("client", ""))) for one in installed()]
    fitting = [(one.spec != server.spec, names.index(name), one) for one, name in clients if name in names]
    return [one for _, _, one in sorted(fitting, key=lambda entry: entry[:2])]


def _environment(installation: Installation) -> list[str]:
    """`env` sets what the client's libraries need, so that one command line says it all."""
    path = installation.environment().get("LD_LIBRARY_PATH")
    return ["env", f"LD_LIBRARY_PATH={path}"] if path else []


def _panes(command: Sequence[str], count: int) -> int:
    if shutil.which("tmux") is None:
        raise UsageError("several clients at once need tmux, which is not on this machine; install it")
    line = shlex.join(command)
    name = f"acidtest-{os.getpid()}"
    # a server of its own, so that the user's tmux settings and sessions are left alone
    tmux = ["tmux", "-L", name, "-f", "/dev/null"]
    try:
        subprocess.run([*tmux, "new-session", "-d", "-s", name, line], check=True)
        for _ in range(count - 1):
            subprocess.run([*tmux, "split-window", "-t", name, line], check=True)
            subprocess.run(
                [*tmux, "select-layout", "-t", name, "tiled"], check=True, stdout=subprocess.DEVNULL
            )
        inside = {key: value for key, value in os.environ.items() if key != "TMUX"}
        return subprocess.run([*tmux, "attach-session", "-t", name], env=inside, check=False).returncode
    except subprocess.CalledProcessError as error:
        raise UsageError(f"tmux failed ({error}); it needs a terminal") from error
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)
