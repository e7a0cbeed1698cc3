"""Wrapping the methods of a driver for as long as a gate is in place."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary, ref

from acidtest.app.gate import Link
from acidtest.model import TransactionState

Wrapper = Callable[..., Any]
Own = TypeVar("Own", bound=Link)


LIBPQ_STATES = {
    0: TransactionState.NONE,
    1: TransactionState.NONE,
    2: TransactionState.OPEN,
    3: TransactionState.FAILED,
}
"""Where a transaction stands, by libpq's number for it."""


class Patches:
    """Replaced attributes, each with what it was."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def replace(self, owner: Any, name: str, make: Callable[[Any], Wrapper]) -> None:
        """Replace a method by what `make` makes of it."""
        missing = object()
        own = vars(owner).get(name, missing)
        wrapper = make(getattr(owner, name))
        setattr(owner, name, wrapper)

        def undo() -> None:
            if own is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        self._undo.callback(undo)

    def take_back(self) -> None:
        """Put everything back."""
        self._undo.close()


class DriverLink(Link):
    """The link of a driver's connection, which it does not keep alive."""

    def __init__(self, connection: Any, number: int) -> None:
        super().__init__()
        self._connection = ref(connection)
        self._number = number

    @property
    def connection(self) -> Any:
        return self._connection()

    @property
    def number(self) -> int:
        return self._number


class Links(Generic[Own]):
    """The links of a driver's connections, made when one is seen first."""

    def __init__(self, make: Callable[[Any], Own]) -> None:
        self._make = make
        self._known: WeakKeyDictionary[Any, Own] = WeakKeyDictionary()

    def of(self, connection: Any) -> Own:
        """The link of a connection."""
        link = self._known.get(connection)
        if link is None:
            link = self._known[connection] = self._make(connection)
        return link
