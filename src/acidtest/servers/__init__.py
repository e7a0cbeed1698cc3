"""Real servers by name and version: install, start, stop. See docs/servers.md."""

from acidtest.servers.api import (
    available,
    find_installed,
    install,
    installed,
    installed_for,
    matching,
    parse_spec,
    refresh,
    remove,
    require,
    start,
)
from acidtest.servers.base import (
    Endpoint,
    Installation,
    InstallFailedError,
    Progress,
    Release,
    ServerFailedError,
)
from acidtest.servers.running import RunningServer
from acidtest.servers.specs import Spec
from acidtest.servers.store import size_bytes

__all__ = [
    "Endpoint",
    "InstallFailedError",
    "Installation",
    "Progress",
    "Release",
    "RunningServer",
    "ServerFailedError",
    "Spec",
    "available",
    "find_installed",
    "install",
    "installed",
    "installed_for",
    "matching",
    "parse_spec",
    "refresh",
    "remove",
    "require",
    "size_bytes",
    "start",
]
