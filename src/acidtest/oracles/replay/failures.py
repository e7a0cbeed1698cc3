"""How a statement may fail, and when it must."""

from acidtest.claims import OnConflict, Sees
from acidtest.model import Affected, ErrorKind, ErrorWitness, Failed, Record, Rows
from acidtest.oracles.engines.base import UndecidedError
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import (
    NOT_IN_THE_SCHEMA,
    NOT_OF_THE_DATA,
    OF_THE_DATA,
    ViolationError,
)
from acidtest.sql.kinds import is_script
from acidtest.sql.shape import Patience, Shape, Verb

_NOTHING: frozenset[ErrorKind] = frozenset()
_TELLS_NOTHING = (
    ErrorKind.CONNECTION_LOST,
    ErrorKind.INTERNAL,
    ErrorKind.SCHEMA_CHANGED,
    ErrorKind.OTHER,  # nobody has said yet what it means
)
_OF_A_CONFLICT = (
    ErrorKind.SERIALIZATION_FAILURE,
    ErrorKind.WRITE_CONFLICT,
    ErrorKind.RECORD_CHANGED,
    ErrorKind.LOCK_NOT_AVAILABLE,
)


class Failures:
    """Judges the errors of statements, and the lack of them."""

    def __init__(self, context: Context) -> None:
        self._transactions = context.transactions
        self._schema = context.history.schema
        self._engine = context.engine
        self._unexplained = context.unexplained_conflicts

    def require_conflict(self, state: SessionState, record: Record, conflict: str) -> None:
        """A statement that succeeded must not have had a reason to fail with a conflict."""
        if conflict:
            raise ViolationError(record.step, ErrorWitness(state.claim.conflict_errors, None), conflict)

    def require_refusal(self, record: Record) -> None:
        """A transaction that has failed takes no statements but those that end it."""
        if isinstance(record.outcome, Rows | Affected) and not is_script(record.sql):
            raise ViolationError(
                record.step,
                ErrorWitness(frozenset({ErrorKind.TRANSACTION_STATE}), None),
                "its transaction has failed and must be rolled back first",
            )

    def judge_conflict(
        self,
        state: SessionState,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind] = _NOTHING,
        may_fail: frozenset[ErrorKind] = _NOTHING,
        reason: str = "",
    ) -> None:
        """A lost conflict is always a reason to fail; the DBMS may see one where we are not sure of it.

        `reason` is the conflict that the walk sees, if it does.
        """
        self._count(state, record, outcome, reason)
        if outcome.kind in state.claim.conflict_errors and self._may_conflict(state, record, outcome):
            if state.claim.on_conflict is OnConflict.REFUSE and state.opened_by == record.step:
                # A first statement that SQLite refuses leaves no read transaction behind:
                # https://www.sqlite.org/lang_transaction.html (measured on 3.40)
                state.moments, state.opened_by = (), None
            self._transactions.undo(state, record, outcome)
        else:
            self.judge(state, record, outcome, errors, may_fail)

    def _may_conflict(self, state: SessionState, record: Record, outcome: Failed) -> bool:
        """Whether it can be a conflict at all: over a key only those fight who bring one in."""
        shape = state.shape(record)
        if outcome.kind is not ErrorKind.DUPLICATE_KEY or shape is None:
            return True
        if shape.verb in (Verb.READ, Verb.DELETE):
            return False
        written = [table for table in self._schema.tables if table.name in shape.writes]
        return any(index.unique for table in written for index in table.indexes)

    def _count(self, state: SessionState, record: Record, outcome: Failed, reason: str) -> None:
        """Keep book of conflicts without a reason: no violation, but somebody may want to look."""
        shape = state.shape(record)
        if outcome.kind not in _OF_A_CONFLICT or reason:
            return
        if shape is not None and shape.patience is Patience.NOWAIT:
            return
        exact = state.claim.on_conflict is OnConflict.FAIL and not state.claim.serializable
        sure = exact and shape is not None and shape.plain and not self._has_relations()
        sure = sure and not (shape is not None and self._may_pass_newer(state, shape))
        if sure or self._transactions.is_alone(state):
            self._unexplained.append(record.step)

    def _may_pass_newer(self, state: SessionState, shape: Shape) -> bool:
        """Whether a table has rows that are newer than the snapshot. InnoDB also locks rows that do not meet
        the condition, or are deleted, if it comes by them."""
        if state.claim.write is not Sees.COMMITTED or not state.moments:
            return False
        chains, moment = self._transactions.chains, min(state.moments)
        newest = [versions[-1] for table in shape.reads for _, versions in chains.rows(table)]
        return any(
            one.writer != state.transaction and not chains.committed_by(one.writer, moment) for one in newest
        )

    def _has_relations(self) -> bool:
        """Whether foreign keys or parts of a table may take other rows into a statement."""
        return any(table.foreign_keys or table.children for table in self._schema.tables)

    def judge(
        self,
        state: SessionState,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind] = _NOTHING,
        may_fail: frozenset[ErrorKind] = _NOTHING,
    ) -> None:
        """The error must be one of those that the statement must or may end with, or none of the data."""
        if outcome.kind in _TELLS_NOTHING:
            raise UndecidedError(f"an error of kind {outcome.kind.value}")
        data_error_expected = bool(errors & OF_THE_DATA) and outcome.kind in OF_THE_DATA
        if outcome.kind not in self._allowed(state, record, errors | may_fail) and not data_error_expected:
            if outcome.kind in NOT_IN_THE_SCHEMA and not self._engine.knows_all_constraints:
                raise UndecidedError(f"an error of kind {outcome.kind.value}: the schema tells nothing of it")
            raise ViolationError(
                record.step,
                ErrorWitness(errors, outcome.kind, outcome.code),
                "nothing that the statement may see makes it fail like that",
            )
        self._transactions.undo(state, record, outcome)

    def _allowed(
        self, state: SessionState, record: Record, of_the_statement: frozenset[ErrorKind]
    ) -> frozenset[ErrorKind]:
        allowed = of_the_statement | NOT_OF_THE_DATA | state.claim.may_fail
        if record.waited:
            allowed |= {ErrorKind.LOCK_TIMEOUT}
        shape = state.shape(record)
        if shape is not None and shape.patience is Patience.NOWAIT:
            allowed |= {ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.LOCK_TIMEOUT}
        if shape is not None and any(
            table.children for table in self._schema.tables if table.name in shape.reads
        ):
            allowed |= state.claim.moved_errors
        return allowed
