"""Walks a history along its observed order, with version chains and locks, and compares each step.

This is the part that Troc and Fucci share: which versions a statement may see (the claim's word), whether it
had to wait, and what it must have done; how a single statement is solved is the engine's business. Only the
order that really happened is judged, so any number of transactions will do.
"""

import re
from collections.abc import Mapping

from acidtest.casefile import format_rows
from acidtest.claims import Claim, OnConflict
from acidtest.model import (
    EventKind,
    Failed,
    History,
    Overran,
    Record,
    TransactionState,
    ViolationKind,
    same_rows,
)
from acidtest.mvcc import Version, Visible
from acidtest.oracles.engine import Engine, UndecidedError, Views
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.reads import Reads
from acidtest.oracles.replay.scene import Scene
from acidtest.oracles.replay.timeline import in_order_of_effect
from acidtest.oracles.replay.transactions import Standing
from acidtest.oracles.replay.violations import OF_THE_DATA, ViolationError
from acidtest.oracles.replay.work import Work
from acidtest.oracles.replay.writes import Writes
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Shape, Verb

_REFERENCES = re.compile(r"\bREFERENCES\b", re.IGNORECASE)


class Replay:
    """One walk along one history. `run` raises `ViolationError` or `UndecidedError`, or returns."""

    def __init__(self, history: History, claims: Mapping[str, Claim], engine: Engine) -> None:
        scene = Scene.of(history, claims, engine)
        self.history = history
        self.chains = scene.chains
        self.locks = scene.transactions.locks
        self.sessions = scene.transactions.sessions
        self.owners = scene.transactions.owners
        self._transactions = scene.transactions
        self._timeline = scene.timeline
        self._visibility = scene.visibility
        self._work = Work(scene)
        self._failures = Failures(scene)
        self._reads = Reads(scene, self.saw)
        self._writes = Writes(scene, self.saw)

    @property
    def undecided(self) -> list[str]:
        """Why reads could not be judged; the walk goes on without them."""
        return self._reads.undecided

    @property
    def doubted(self) -> bool:
        """A statement that waited may have passed rows by; which, was guessed from what it reported."""
        return self._writes.doubted

    def saw(self, standing: Standing, record: Record, shape: Shape, views: Views, visible: Visible) -> None:
        """A statement was right on these views. Nothing to do here; for those who keep book of reads."""

    def run(self) -> None:
        """Judge every step in the order of completion, then the final state."""
        if self.history.final is None:
            raise UndecidedError("the server died")
        if any(_REFERENCES.search(statement.sql) for statement in self.history.case.setup):
            raise UndecidedError("foreign keys")  # their checks lock and read other rows than the statement
        for event in in_order_of_effect(self.history):
            standing, record = self.sessions[event.session], self.history.records[event.step]
            if event.kind is EventKind.LAUNCHED:
                self._timeline.launch(event)
                self._visibility.first_statement(standing, record)
            elif event.kind is EventKind.COMPLETED:
                self._timeline.complete(event)
                self._complete(standing, record)
        if any(isinstance(record.outcome, Overran) for record in self.history.records):
            raise UndecidedError("a statement ran over the limit")
        self._judge_final_state()

    def _complete(self, standing: Standing, record: Record) -> None:
        kind = kind_of(record.sql)
        match kind:
            case StatementKind.BEGIN:
                self._transactions.begin(standing, record)
            case StatementKind.COMMIT:
                self._commit(standing, record)
            case StatementKind.ROLLBACK:
                self._transactions.end(standing, commit=False)
            case StatementKind.SAVEPOINT:
                self._transactions.savepoint(standing, record)
            case StatementKind.QUERY | StatementKind.WRITE:
                self._statement(standing, record)
            case _:
                if not isinstance(record.outcome, Failed):
                    raise UndecidedError(f"{kind.value} statements inside the schedule")

    def _commit(self, standing: Standing, record: Record) -> None:
        if standing.failed or isinstance(record.outcome, Failed):
            if isinstance(record.outcome, Failed) and not standing.failed:
                self._failures.judge_conflict(standing, record, record.outcome)
            if record.after is TransactionState.NONE:  # SQLite's COMMIT can fail and be tried again
                self._transactions.end(standing, commit=False)
        else:
            if standing.claim.on_conflict is OnConflict.AT_COMMIT:
                self._failures.require_conflict(standing, record, self._work.lost_at_commit(standing))
            self._transactions.end(standing, commit=True)

    def _statement(self, standing: Standing, record: Record) -> None:
        """Judge a statement inside its transaction, or in one of its own."""
        if standing.failed:
            return  # refused until ROLLBACK; nothing happens
        if record.before is TransactionState.NONE and standing.transaction is not None:
            raise UndecidedError("the server says that the transaction is over, the statements do not")
        alone = standing.transaction is None and record.after is not TransactionState.OPEN
        if alone:
            self._transactions.open(standing)
            self._visibility.only_statement(standing, record)
        elif standing.transaction is None:
            # MariaDB before 10.6 goes on in a new transaction when a deadlock has ended one.
            self._transactions.open(standing)
        is_first = standing.claim.first_statement_retries and standing.opened_by == record.step
        if is_first and record.waited:
            self._timeline.start_over(record.step)
            standing.moments = (self.chains.clock,)
        try:
            self._judge_statement(standing, record, alone)
            if is_first and isinstance(record.outcome, Failed):
                standing.moments = ()  # what failed has read nothing that counts
        finally:
            if alone:
                self._transactions.end(standing, commit=not isinstance(record.outcome, Failed))

    def _judge_statement(self, standing: Standing, record: Record, alone: bool) -> None:
        shape = standing.shape(record)
        if shape is None:
            if isinstance(record.outcome, Failed):
                self._failures.judge(standing, record, record.outcome, may_fail=OF_THE_DATA)
                return
            raise UndecidedError("a statement that sqlglot cannot read")
        if not all(name in self.chains.tables() for name in shape.reads):
            if isinstance(record.outcome, Failed):
                return
            raise UndecidedError("a table that is not one of the case")
        if shape.verb is Verb.READ:
            self._reads.judge(standing, record, shape, alone)
        else:
            self._writes.judge(standing, record, shape)

    def _is_foreign(self, standing: Standing, version: Version) -> bool:
        """Written by another transaction that has not ended."""
        return self._transactions.is_foreign(standing, version)

    def _judge_final_state(self) -> None:
        for standing in self.sessions.values():
            self._transactions.end(standing, commit=False)
        assert self.history.final is not None
        for table, rows in self.history.final.items():
            expected = self.chains.view(table, lambda version: self.chains.is_committed(version.writer))
            if not same_rows([seen.values for seen in expected], rows):
                raise ViolationError(
                    ViolationKind.WRONG_FINAL_STATE,
                    None,
                    f"{table}: {format_rows([seen.values for seen in expected])}",
                    f"{table}: {format_rows(rows)}",
                    f"the committed transactions leave other rows in {table}",
                    expected_rows=[seen.values for seen in expected],
                    table=table,
                )
