"""Replay ids: an order as a short text that a person can read and type, such as `A3-B-A`."""

import re

from acidtest.errors import UsageError
from acidtest.model.application import Order, Segment

_SEGMENT = re.compile(r"([A-Z])(\d*)")


def replay_id(order: Order) -> str:
    """The id of an order: each part is an operation and the statement up to which it runs."""
    return "-".join(f"{one.operation}{'' if one.upto is None else one.upto}" for one in order)


def order_of(text: str, names: tuple[str, ...]) -> Order:
    """The order of an id; what is none is a `UsageError`."""
    parts = [_SEGMENT.fullmatch(part) for part in text.strip().split("-")]
    if not all(parts):
        raise UsageError(
            f"{text!r} is no replay id; one looks like A3-B-A: run A up to its third statement, then B"
        )
    segments = tuple(Segment(part[1], int(part[2]) if part[2] else None) for part in parts if part)
    if unknown := [one.operation for one in segments if one.operation not in names]:
        raise UsageError(
            f"the replay id {text!r} names operation {unknown[0]}, but there are {', '.join(names)}"
        )
    return segments
