"""Everything that a walk knows, for those who judge a part of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from acidtest.claims import Claim
from acidtest.model import History, Record
from acidtest.mvcc import Chains, Visible
from acidtest.oracles.engine import Engine, Views
from acidtest.oracles.replay.timeline import Timeline
from acidtest.oracles.replay.transactions import Standing, Transactions
from acidtest.oracles.replay.visibility import Visibility
from acidtest.sql.shape import Shape

Saw = Callable[[Standing, Record, Shape, Views, Visible], None]
"""Is told of every statement that was right, and the views on which it was."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A history, where the walk along it stands, and the engine that solves its statements."""

    history: History
    engine: Engine
    chains: Chains
    transactions: Transactions
    timeline: Timeline
    visibility: Visibility

    @classmethod
    def of(cls, history: History, claims: Mapping[str, Claim], engine: Engine) -> "Scene":
        """The scene before the first event."""
        chains = Chains.of(history.initial)
        timeline = Timeline(history, chains)
        transactions = Transactions(chains, claims)
        return cls(history, engine, chains, transactions, timeline, Visibility(chains, timeline))
