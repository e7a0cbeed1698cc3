"""The other side of `apart`: holds a DBMS in a process of its own and does what it is told over a pipe.

Run as a module with the number of a descriptor. The first message says where the release lies, which class
holds it, and which file to use; every other one is the name of a request and its arguments.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from acidtest.errors import TargetFailedError, UsageError
from acidtest.model import Level, Reply
from acidtest.targets.inprocess import InProcessSession, InProcessTarget


@dataclass(frozen=True, slots=True)
class Order:
    """What to host: a class `module:name`, the folder of the release, the file, and whether to keep it."""

    target: str
    release: str
    stand_in: str
    """A module that takes the driver's place, as `module:name`; empty if the release has the driver."""
    path: str
    label: str
    keep: bool


class Host:
    """One target and its sessions by number."""

    def __init__(self, order: Order) -> None:
        sys.path.insert(0, order.release)
        if order.stand_in:
            own, _, name = order.stand_in.partition(":")
            sys.modules[name] = import_module(own)
        module, _, name = order.target.partition(":")
        make: Callable[..., InProcessTarget] = getattr(import_module(module), name)
        self.target = make(Path(order.path), order.label, keep=order.keep)
        self._sessions: dict[int, InProcessSession] = {}
        self._last = 0

    def version(self) -> str:
        return self.target.version

    def open(self) -> int:
        session = self.target.open_session()
        assert isinstance(session, InProcessSession)
        self._last += 1
        self._sessions[self._last] = session
        return self._last

    def execute(self, number: int, sql: str) -> tuple[Reply, bool]:
        session = self._sessions[number]
        return session.execute(sql), session.alive

    def clean(self, number: int, thorough: bool) -> None:
        self.target.clean(self._sessions[number], thorough)

    def set_level(self, number: int, level: Level) -> None:
        self.target.set_level(self._sessions[number], level)

    def hang_up(self, number: int) -> None:
        self._sessions.pop(number).close()

    def lost(self) -> list[int]:
        """Sessions that ended with what the last request did."""
        return [number for number, session in self._sessions.items() if not session.alive]

    def forward(self, name: str, *arguments: Any) -> Any:
        """A method of the target itself."""
        return getattr(self.target, name)(*arguments)


def serve(connection: Connection) -> None:
    """Answer until the other side goes away."""
    host = _answered(connection, lambda: Host(connection.recv()))
    while host is not None:
        try:
            name, arguments = connection.recv()
        except EOFError:
            break
        _answered(connection, partial(getattr(host, name), *arguments))
    if host is not None:
        host.target.leave()


def _answered(connection: Connection, work: Callable[[], Any]) -> Any:
    try:
        result = work()
    except UsageError as error:
        connection.send(("usage", str(error)))
    except TargetFailedError as error:
        connection.send(("failed", str(error)))
    except Exception:
        connection.send(("defect", traceback.format_exc()))
    else:
        connection.send(("done", None if isinstance(result, Host) else result))
        return result
    return None


def main(arguments: Sequence[str]) -> None:
    serve(Connection(int(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
