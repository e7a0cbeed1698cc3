"""How a statement may fail, and when it must."""

from acidtest.claims import OnConflict
from acidtest.model import ErrorKind, Failed, Record, ViolationKind
from acidtest.oracles.engine import UndecidedError
from acidtest.oracles.replay.scene import Scene
from acidtest.oracles.replay.transactions import Standing
from acidtest.oracles.replay.violations import (
    NOT_IN_THE_SCHEMA,
    NOT_OF_THE_DATA,
    OF_THE_DATA,
    ViolationError,
    error_text,
)
from acidtest.sql.shape import Patience

_NOTHING: frozenset[ErrorKind] = frozenset()
_TELLS_NOTHING = (ErrorKind.CONNECTION_LOST, ErrorKind.INTERNAL, ErrorKind.SCHEMA_CHANGED)


class Failures:
    """Judges the errors of statements, and the lack of them."""

    def __init__(self, scene: Scene) -> None:
        self._transactions = scene.transactions
        self._engine = scene.engine

    def require_conflict(self, standing: Standing, record: Record, conflict: str) -> None:
        """A statement that succeeded must not have had a reason to fail with a conflict."""
        if conflict:
            raise ViolationError(
                ViolationKind.WRONG_ERROR,
                record.step,
                error_text(standing.claim.conflict_errors),
                "success",
                conflict,
            )

    def judge_conflict(
        self,
        standing: Standing,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind] = _NOTHING,
        may_fail: frozenset[ErrorKind] = _NOTHING,
    ) -> None:
        """A lost conflict is always a reason to fail; the DBMS may see one where we are not sure of it."""
        if outcome.kind in standing.claim.conflict_errors:
            if standing.claim.on_conflict is OnConflict.REFUSE and standing.opened_by == record.step:
                # A first statement that SQLite refuses leaves no read transaction behind:
                # https://www.sqlite.org/lang_transaction.html (measured on 3.40)
                standing.moments, standing.opened_by = (), None
            self._transactions.undo(standing, record, outcome)
        else:
            self.judge(standing, record, outcome, errors, may_fail)

    def judge(
        self,
        standing: Standing,
        record: Record,
        outcome: Failed,
        errors: frozenset[ErrorKind] = _NOTHING,
        may_fail: frozenset[ErrorKind] = _NOTHING,
    ) -> None:
        """The error must be one of those that the statement must or may end with, or none of the data."""
        if outcome.kind in _TELLS_NOTHING:
            raise UndecidedError(f"an error of kind {outcome.kind.value}")
        data_error_expected = bool(errors & OF_THE_DATA) and outcome.kind in OF_THE_DATA
        if outcome.kind not in self._allowed(standing, record, errors | may_fail) and not data_error_expected:
            if outcome.kind in NOT_IN_THE_SCHEMA and not self._engine.knows_all_constraints:
                raise UndecidedError(f"an error of kind {outcome.kind.value}: the schema tells nothing of it")
            raise ViolationError(
                ViolationKind.WRONG_ERROR,
                record.step,
                error_text(errors) if errors else "success",
                f"error {outcome.kind.value} {outcome.code}",
                "nothing that the statement may see makes it fail like that",
            )
        self._transactions.undo(standing, record, outcome)

    def _allowed(
        self, standing: Standing, record: Record, of_the_statement: frozenset[ErrorKind]
    ) -> frozenset[ErrorKind]:
        allowed = of_the_statement | NOT_OF_THE_DATA | standing.claim.may_fail
        if record.waited:
            allowed |= {ErrorKind.LOCK_TIMEOUT}
        shape = standing.shape(record)
        if shape is not None and shape.patience is Patience.NOWAIT:
            allowed |= {ErrorKind.LOCK_NOT_AVAILABLE, ErrorKind.LOCK_TIMEOUT}
        return allowed
