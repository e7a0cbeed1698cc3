"""Where servers come from: one line for each source."""

from acidtest.servers.base import OpenSource, Source
from acidtest.servers.sources.container import Container
from acidtest.servers.sources.debian import Debian
from acidtest.servers.sources.go import Go
from acidtest.servers.sources.maven import Maven
from acidtest.servers.sources.npm import Npm
from acidtest.servers.sources.pypi import PyPi

_GO, _CONTAINER = Go(), Container()
SOURCES: tuple[Source, ...] = (PyPi(), Debian(), Npm(), Maven(), _GO, _CONTAINER)
"""In the order in which they are asked for a release."""

OPEN_SOURCES: tuple[OpenSource, ...] = (_GO, _CONTAINER)
"""Those that may have more than they can list."""

__all__ = ["OPEN_SOURCES", "SOURCES"]
