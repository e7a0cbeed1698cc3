"""What a run is to be: an order, a level, and what the gate changes on the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from acidtest.model import Level
from acidtest.model.application import Call, Order

Rewrite = Callable[[str, Sequence[Call]], str | None]
"""From a statement and what its operation has done so far: what to send instead, or None."""


def as_it_is(sql: str, before: Sequence[Call]) -> str | None:
    """Rewrite nothing."""
    del sql, before
    return None


@dataclass(frozen=True, slots=True)
class Cut:
    """Stop an operation at a COMMIT: right after it, or kill its session right before it."""

    operation: str
    index: int
    before: bool


@dataclass(frozen=True, slots=True)
class Script:
    """One run: everything that is not the application's own."""

    order: Order
    level: Level | None = None
    one_transaction: bool = False
    """Each operation as one transaction, begun and committed by the gate."""
    rewrite: Rewrite = field(default=as_it_is)
    retries: int = 0
    cut: Cut | None = None
