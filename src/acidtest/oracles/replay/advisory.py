"""PostgreSQL's advisory locks: https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS"""

from dataclasses import dataclass

from acidtest.model import Hold, Record, Rows, RowsWitness
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.natures import Advisory, advisory_call
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import ViolationError
from acidtest.oracles.replay.waits import Waits


@dataclass(frozen=True, slots=True)
class _Held:
    session: str
    key: tuple[str, ...]
    shared: bool
    transaction: int | None
    """The transaction with which it ends; None: it is held until it is given up."""
    step: int


class AdvisoryLocks:
    """The advisory locks of all sessions."""

    def __init__(self, context: Context) -> None:
        self._transactions = context.transactions
        self._waits = Waits(context)
        self._held: list[_Held] = []

    def judge(self, state: SessionState, record: Record) -> None:
        """A call of one of the functions has ended."""
        call = advisory_call(record.sql)
        if call is None:
            raise UndecidedError("an advisory lock whose key is not told")
        if call.releases:
            self._release(state, call)
            return
        held = self._conflict(state, call)
        if held is None:
            got = not call.tries or self._answered(record, True)
        elif call.tries:
            got = self._answered(record, True)
            if got:
                raise ViolationError(
                    record.step,
                    RowsWitness(((False,),), ((True,),)),
                    f"{held.session} holds the lock since step {held.step}",
                )
        else:
            raise self._waits.missing(
                record, held.session, held.step, Hold.ADVISORY, f"advisory lock {', '.join(call.key)}"
            )
        if got:
            own = state.transaction if call.of_transaction else None
            self._held.append(_Held(state.name, call.key, call.shared, own, record.step))

    def _answered(self, record: Record, value: bool) -> bool:
        return isinstance(record.outcome, Rows) and record.outcome.rows == ((value,),)

    def _conflict(self, state: SessionState, call: Advisory) -> _Held | None:
        """A lock that another session surely still holds."""
        for one in self._held:
            if one.session == state.name or one.key != call.key or (one.shared and call.shared):
                continue
            if (
                one.transaction is None
                or self._transactions.sessions[one.session].transaction == one.transaction
            ):
                return one
        return None

    def _release(self, state: SessionState, call: Advisory) -> None:
        """Given up once; who took it twice may still hold it, of which nothing is made."""
        self._held = [
            one
            for one in self._held
            if one.session != state.name or one.transaction is not None or (call.key and one.key != call.key)
        ]
