"""Orders of effect that a history leaves open.

Sessions that one COMMIT releases run at the same time. Which of them took effect first is not known: their
answers may arrive in another order. The same holds for a session that goes on although nobody let go of a
lock. An oracle that finds a violation asks for the other orders first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations, product

from acidtest.model import ErrorKind, Event, EventKind, Failed, History, TransactionState
from acidtest.sql import StatementKind, kind_of

ORDERS_MAX = 24


def released_together(history: History) -> list[tuple[int, ...]]:
    """Steps that one step released, and that completed before the next statement was launched; with that step
    itself if it cannot have released them.

    A statement that closes a circle of waits is released by the end of the victim before anybody can see
    that it waits.
    """
    groups: list[tuple[int, ...]] = []
    causes: dict[int, list[int]] = {}
    released_by: dict[int, int] = {}
    launched: int | None = None
    for event in (*history.events, None):
        if event is None or event.kind is EventKind.LAUNCHED:
            groups += [tuple(steps) for steps in causes.values() if len(steps) > 1]
            causes, launched = {}, None if event is None else event.step
        elif event.kind is EventKind.RESUMED and event.cause is not None:
            released_by[event.step] = event.cause
        elif event.kind is EventKind.COMPLETED:
            if event.step in released_by:
                cause = released_by[event.step]
                causes.setdefault(cause, _with_cause(history, cause)).append(event.step)
            elif launched is not None and event.step != launched and _is_victim(history, event.step):
                released_by.setdefault(launched, event.step)
    return groups


def _is_victim(history: History, step: int) -> bool:
    outcome = history.records[step].outcome
    return isinstance(outcome, Failed) and outcome.kind is ErrorKind.DEADLOCK


def _with_cause(history: History, cause: int) -> list[int]:
    """A step within an open transaction does not let go of locks; who goes on then was released by the server
    itself (InnoDB's purge takes a deleted record away, and the locks on it), perhaps before that step."""
    record = history.records[cause]
    inside = record.after is TransactionState.OPEN and kind_of(record.sql) is not StatementKind.SAVEPOINT
    return [cause] if inside and not isinstance(record.outcome, Failed) else []


def other_orders(history: History) -> Iterator[History]:
    """The same history with sessions that were released together taking effect in other orders."""
    groups = released_together(history)
    if not groups:
        return
    choices = product(*(permutations(group) for group in groups))
    for chosen in islice(choices, 1, ORDERS_MAX):
        events = history.events
        for group, order in zip(groups, chosen, strict=True):
            events = _reordered(events, group, order)
        yield replace(history, events=events)


def _reordered(events: Sequence[Event], group: Sequence[int], order: Sequence[int]) -> tuple[Event, ...]:
    """The ends of the group's steps, in the new order, where the last of them was."""
    ends = {step: [one for one in events if one.step == step and one.kind in _ENDS] for step in group}
    last = max(i for i, one in enumerate(events) if one.step in group and one.kind in _ENDS)
    before = [one for one in events[: last + 1] if one.step not in group or one.kind not in _ENDS]
    return (*before, *(one for step in order for one in ends[step]), *events[last + 1 :])


_ENDS = (EventKind.COMPLETED, EventKind.ABORTED)
