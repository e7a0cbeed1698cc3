"""What a command is at, on stderr: one line that changes on a terminal, a line each elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from acidtest.cli.output import say


@contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """Gives a function to say what is being done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield say
        return
    with Console(stderr=True).status("") as status:
        yield lambda what: status.update(Text(what))
