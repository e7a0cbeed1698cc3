"""Where servers come from: one line for each source."""

from acidtest.servers.base import Source
from acidtest.servers.sources.debian import Debian
from acidtest.servers.sources.go import Go
from acidtest.servers.sources.maven import Maven
from acidtest.servers.sources.npm import Npm
from acidtest.servers.sources.pypi import PyPi

SOURCES: tuple[Source, ...] = (PyPi(), Debian(), Npm(), Maven(), Go())

__all__ = ["SOURCES"]
