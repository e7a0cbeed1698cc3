"""acidtest puts database transactions to the acid test."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("acidtest")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
