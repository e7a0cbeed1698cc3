"""Operations: units of an application whose transactions are interleaved with others'."""

import dis
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase
from typing import Any

from acidtest.errors import UsageError

MOST = 4
"""So many operations at a time; more make no anomaly that fewer do not, and very many orders."""


_FIRST = ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_FAST")
_FURTHER = ("LOAD_ATTR", "LOAD_METHOD")


@dataclass(frozen=True, slots=True)
class Operation:
    """A callable without arguments, under a short name; `title` is what it is in the application."""

    name: str
    call: Callable[[], Any]
    title: str
    is_async: bool = False


def operations_of(calls: Sequence[Callable[[], Any]]) -> tuple[Operation, ...]:
    """Operations A, B, ... of callables. A single one is to run against itself."""
    for call in calls:
        if not callable(call):
            raise UsageError(f"an operation is something that can be called, not {call!r}; write a lambda")
        if inspect.iscoroutine(call):
            raise UsageError(
                "an operation is a function that gives a coroutine, not a coroutine; drop the ()"
            )
    if not calls:
        raise UsageError("there is nothing to interleave; give one operation (against itself) or up to four")
    if len(calls) > MOST:
        raise UsageError(f"{len(calls)} operations are too many; interleave up to {MOST} at a time")
    both = [*calls, *calls] if len(calls) == 1 else [*calls]
    return tuple(
        Operation(name, call, _title(call), inspect.iscoroutinefunction(inspect.unwrap(call)))
        for name, call in zip(ascii_uppercase, both, strict=False)
    )


def _title(call: Callable[[], Any]) -> str:
    """The name of a function; of a lambda what it calls, so far as its code tells."""
    if isinstance(call, partial):
        return _title(call.func)
    code = getattr(call, "__code__", None)
    name: str = getattr(call, "__name__", type(call).__name__)
    if name != "<lambda>" or code is None:
        return name
    for one in dis.get_instructions(code):
        wanted = _FIRST if name == "<lambda>" else _FURTHER
        if one.opname in wanted:
            name = str(one.argval)
        elif name != "<lambda>":
            break  # the first chain of names is what is called; its arguments follow
    return name
