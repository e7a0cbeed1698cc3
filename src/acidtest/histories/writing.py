"""Histories written down: as Elle's EDN, as JSON, and registers as Plume's text."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from acidtest.histories.columns import WRITE, Operations, Workload
from acidtest.histories.generate import HappenedEvent


def to_edn(events: Iterable[HappenedEvent], workload: Workload) -> Iterator[str]:
    """A map a line, as Jepsen prints them."""
    name = ":append" if workload is Workload.LISTS else ":w"
    for index, event in enumerate(events):
        value = " ".join(
            f"[{name if kind == WRITE else ':r'} {_edn(key)} {_edn(value)}]"
            for kind, key, value in event.operations
        )
        yield (
            f"{{:index {index}, :time {index * 1000}, :type :{event.kind}, :process {event.process}, "
            f":f :txn, :value [{value}]}}\n"
        )


def _edn(value: Any) -> str:
    if value.__class__ is int:
        return str(value)
    if value is None:
        return "nil"
    if isinstance(value, list):
        return f"[{' '.join(map(_edn, value))}]"
    return json.dumps(value, ensure_ascii=False)


def to_json(events: Iterable[HappenedEvent], workload: Workload) -> Iterator[str]:
    """An object a line, as elle-cli takes them."""
    name = "append" if workload is Workload.LISTS else "w"
    for index, event in enumerate(events):
        value = [[name if kind == WRITE else "r", key, value] for kind, key, value in event.operations]
        line = {"index": index, "type": event.kind, "process": event.process, "f": "txn", "value": value}
        yield json.dumps(line, ensure_ascii=False) + "\n"


def to_plume(events: Iterable[HappenedEvent]) -> Iterator[str]:
    """Plume's text: sessions, but no times. What may or may not have been committed is committed if it was
    read, so such writes are written down as committed; 0 stands for what was there at first."""
    number = 0
    for event in events:
        if event.kind == "invoke":
            continue
        number += 1
        operations = event.operations
        if event.kind == "info":
            operations = [one for one in operations if one[0] == WRITE]
        yield from _plume_lines(operations, event.process, number if event.kind != "fail" else -1)


def _plume_lines(operations: Operations, session: int, transaction: int) -> Iterator[str]:
    for kind, key, value in operations:
        if kind == WRITE:
            yield f"w({key},{value},{session},{transaction})\n"
        elif transaction >= 0 and value is not None:
            yield f"r({key},{value},{session},{transaction})\n"
        elif transaction >= 0:
            yield f"r({key},0,{session},{transaction})\n"
