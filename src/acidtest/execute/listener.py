"""Hears which sessions have news, in the order in which it came."""

import select
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

_EPOLL_GRAIN_S = 0.001
_SELECT_DESCRIPTORS = 1024
_EVENTS_MAX = 64


class Heard(Protocol):
    """What has news: a session, a watch."""

    def fileno(self) -> int:
        """Readable when there are news."""


class Listener:
    """Sessions and the watch by their descriptors, over epoll.

    Python's epoll waits for whole milliseconds. Where a pause is shorter, `select` waits for epoll itself.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._waits_finely = self._epoll.fileno() < _SELECT_DESCRIPTORS
        self._descriptors: dict[Heard, int] = {}
        self._by_descriptor: dict[int, Heard] = {}

    def listen_to(self, one: Heard) -> None:
        """Listen from now on; one that has a new descriptor is heard through that."""
        descriptor = one.fileno()
        if self._descriptors.get(one) == descriptor:
            return
        self.forget(one)
        self._epoll.register(descriptor, select.EPOLLIN)
        self._descriptors[one] = descriptor
        self._by_descriptor[descriptor] = one

    def forget(self, one: Heard) -> None:
        """Stop listening, if we did; its descriptor may be closed by now, and even be another's."""
        descriptor = self._descriptors.pop(one, None)
        if descriptor is None or self._by_descriptor.get(descriptor) is not one:
            return
        del self._by_descriptor[descriptor]
        with suppress(OSError):  # a descriptor that was closed has left epoll by itself
            self._epoll.unregister(descriptor)

    def news(self, limit_s: float) -> Sequence[Heard]:
        """Who has news; nobody if none came within the limit."""
        if 0 < limit_s < _EPOLL_GRAIN_S and self._waits_finely:
            if not select.select((self._epoll,), (), (), limit_s)[0]:
                return ()
            limit_s = 0
        return [self._by_descriptor[one] for one, _ in self._epoll.poll(limit_s, _EVENTS_MAX)]

    def close(self) -> None:
        """Listen to nobody any more."""
        self._epoll.close()
