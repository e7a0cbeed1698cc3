"""Walks a history along its observed order, with version chains and locks, and compares each step.

This is the part that Troc and Fucci share: which versions a statement may see (the claim's word), whether it
had to wait, and what it must have done; how a single statement is solved is the engine's business. Only the
order that really happened is judged, so any number of transactions will do.
"""

from collections.abc import Sequence
from dataclasses import replace

from acidtest.claims import Claims, OnConflict, SnapshotAt
from acidtest.model import (
    ErrorKind,
    ErrorWitness,
    EventKind,
    Failed,
    History,
    Overran,
    Record,
    StateWitness,
    Trace,
    TransactionState,
    same_rows,
)
from acidtest.oracles.chains import Seen
from acidtest.oracles.engines.base import Engine, UndecidedError
from acidtest.oracles.replay.choices import Choices
from acidtest.oracles.replay.context import Context
from acidtest.oracles.replay.definitions import fitting, with_definitions, without_idle_triggers
from acidtest.oracles.replay.failures import Failures
from acidtest.oracles.replay.found_rows import FoundRows
from acidtest.oracles.replay.locks import table_locks_of
from acidtest.oracles.replay.natures import Nature
from acidtest.oracles.replay.others import Others
from acidtest.oracles.replay.prepared import spelled_out
from acidtest.oracles.replay.reads import Reads
from acidtest.oracles.replay.scripts import ENDS, statements_of
from acidtest.oracles.replay.timeline import in_order_of_effect
from acidtest.oracles.replay.tracing import Tracer
from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.unfollowed import why_not_followed
from acidtest.oracles.replay.uniqueness import broken_key
from acidtest.oracles.replay.violations import OF_THE_DATA, ViolationError
from acidtest.oracles.replay.waits import Waits
from acidtest.oracles.replay.writes import Writes, adds_rows_only
from acidtest.oracles.replay.writing_ctes import WritingCtes
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Shape, Verb


class Replay:
    """One walk along one history. `run` raises `ViolationError` or `UndecidedError`, or returns.

    A `tolerant` walk goes on where the history breaks a promise, as if it had been kept: its trace says what
    every statement had to see.
    """

    def __init__(
        self,
        history: History,
        claims: Claims,
        engine: Engine,
        choices: Choices | None = None,
        traces: bool = True,
        tolerant: bool = False,
    ) -> None:
        history = spelled_out(history, {claim.grammar for claim in claims.values()})
        schema = without_idle_triggers(history.schema, history.case)
        if schema is not history.schema:
            history, engine = replace(history, schema=schema), engine.with_schema(schema)
        context = Context.of(history, claims, engine, choices or Choices(), tolerant)
        self.history = history
        self._first_schema = history.schema
        self._definitions = 0
        self._claims = claims
        self._context = context
        self.unexplained_conflicts = context.unexplained_conflicts
        self.chains = context.chains
        self.locks = context.transactions.locks
        self.sessions = context.transactions.sessions
        self.owners = context.transactions.owners
        self._transactions = context.transactions
        self._timeline = context.timeline
        self._choices = context.choices
        self._visibility = context.visibility
        self._work = FoundRows(context)
        self._failures = Failures(context)
        self._others = Others(context)
        self._waits = Waits(context)
        self._tracer = Tracer(context.chains, context.transactions, engine, history.schema, traces)
        self._reads = Reads(context, self._tracer)
        self._writes = Writes(context, self._tracer)

    def _follow_definitions(self) -> None:
        """Go on with other definitions, if something was defined or taken back."""
        defined = self._transactions.defined
        if len(defined) == self._definitions:
            return
        self._definitions = len(defined)
        before, engine = self.history.schema, self._context.engine
        schema = with_definitions(self._first_schema, defined)
        for table in before.tables:
            columns = schema.table(table.name).columns
            values = [engine.default_of(table, one) for one in columns[len(table.columns) :]]
            if len(columns) != len(table.columns):
                self.chains.reshape(table.name, fitting(len(columns), values))
                self._tracer.give_up("rows whose columns have changed")
        self.history = replace(self.history, schema=schema)
        self._context = context = replace(
            self._context, history=self.history, engine=engine.with_schema(schema)
        )
        self._work = FoundRows(context)
        self._failures = Failures(context)
        self._others = Others(context, self._others.advisory)
        self._waits = Waits(context)
        self._reads = Reads(context, self._tracer, self._reads.undecided)
        self._writes = Writes(context, self._tracer, self._writes.numbers)

    def trace(self) -> Trace:
        """What the transactions read and wrote; to be asked when the walk is over."""
        self._tracer.gaps += self.undecided
        return self._tracer.trace()

    @property
    def undecided(self) -> list[str]:
        """Why reads could not be judged; the walk goes on without them."""
        return self._reads.undecided

    def run(self) -> None:
        """Judge every step in the order of completion, then the final state."""
        if self.history.final is None:
            died = self.history.server_died
            raise UndecidedError("the server died" if died else "the final state could not be read")
        for lost in self.history.indeterminate:
            raise UndecidedError(f"whether {lost.session}'s {lost.sql} took effect is not known")
        for event in in_order_of_effect(self.history):
            state, record = self.sessions[event.session], self.history.records[event.step]
            if event.kind is EventKind.LAUNCHED:
                state.claim = self._claims.at(event.session, event.step)
                self._timeline.launch(event)
                self._launch(state, record)
            elif event.kind is EventKind.COMPLETED:
                self._timeline.complete(event)
                with self._context.judging():
                    self._complete(state, record)
                self._follow_definitions()
        if any(isinstance(record.outcome, Overran) for record in self.history.records):
            raise UndecidedError("a statement ran over the limit")
        with self._context.judging():
            self._judge_final_state()

    def _launch(self, state: SessionState, record: Record) -> None:
        self._others.launch(state, record)
        if self._others.nature(state, record) is Nature.ROWS:
            self._visibility.first_statement(state, record)
            self._waits.note_tables(state, record)

    def _script(self, state: SessionState, record: Record) -> None:
        """Outside a transaction block PostgreSQL makes one transaction of the statements of a message, and a
        BEGIN takes them into its own:
        https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT"""
        own = False
        for one in statements_of(state, record, bool(self._timeline.in_flight)):
            begins = kind_of(one.sql) is StatementKind.BEGIN
            if state.transaction is None and not begins and kind_of(one.sql) not in ENDS:
                self._transactions.open(state)
                own = True
            own = own and not begins
            self._timeline.start_over(record.step, self.chains.clock)
            self._launch(state, one)
            self._complete(state, one)
        if own and state.transaction is not None:
            self._transactions.end(state, commit=not isinstance(record.outcome, Failed))

    def _complete(self, state: SessionState, record: Record) -> None:
        nature = self._others.nature(state, record)
        if nature is Nature.SCRIPT:
            self._script(state, record)
            return
        if nature is not Nature.ROWS:
            self._others.complete(state, record, nature)
            return
        match kind_of(record.sql):
            case StatementKind.BEGIN:
                self._transactions.begin(state, record)
            case StatementKind.COMMIT:
                self._commit(state, record)
            case StatementKind.ROLLBACK:
                self._transactions.end(state, commit=False)
            case StatementKind.SAVEPOINT:
                self._transactions.savepoint(state, record)
            case _:
                self._statement(state, record)

    def _commit(self, state: SessionState, record: Record) -> None:
        if state.failed or isinstance(record.outcome, Failed):
            if isinstance(record.outcome, Failed) and not state.failed:
                self._failures.judge_conflict(state, record, record.outcome)
            if record.after is TransactionState.NONE:  # SQLite's COMMIT can fail and be tried again
                self._transactions.end(state, commit=False)
        else:
            if state.claim.on_conflict is OnConflict.AT_COMMIT:
                with self._context.judging():
                    self._require_failure(state, record)
                    self._failures.require_conflict(state, record, self._work.lost_at_commit(state))
            self._transactions.end(state, commit=True)

    def _require_failure(self, state: SessionState, record: Record) -> None:
        """A transaction that broke a key must not commit."""
        if state.pending and not all(one.sure for one in state.pending):
            raise UndecidedError("whether a key that an optimistic transaction broke is still broken")
        for one in state.pending:
            self._failures.require_conflict(state, record, f"step {one.step} broke a key of {one.table}")

    def _statement(self, state: SessionState, record: Record) -> None:
        """Judge a statement inside its transaction, or in one of its own."""
        if state.failed:
            self._failures.require_refusal(record)
            return  # refused until ROLLBACK; nothing happens
        if record.waited and state.claim.on_conflict is OnConflict.REFUSE:
            raise UndecidedError("a wait where no statement ever waits")
        if record.before is TransactionState.NONE and state.transaction is not None:
            raise UndecidedError("the server says that the transaction is over, the statements do not")
        alone = state.transaction is None and record.after is not TransactionState.OPEN
        if alone:
            self._transactions.open(state)
            self._visibility.only_statement(state, record)
        elif state.transaction is None:
            # MariaDB before 10.6 goes on in a new transaction when a deadlock has ended one.
            self._transactions.open(state)
        state.touched = True
        is_first = state.claim.first_statement_retries and state.opened_by == record.step
        if is_first and record.waited:
            self._timeline.start_over(record.step, self.chains.clock)
            state.moments = (self.chains.clock,)
        try:
            self._judge_statement(state, record, alone)
            if is_first and isinstance(record.outcome, Failed):
                state.moments = ()  # what failed has read nothing that counts
        finally:
            if alone:
                self._transactions.end(state, commit=not isinstance(record.outcome, Failed))

    def _judge_statement(self, state: SessionState, record: Record, alone: bool) -> None:
        shape = state.shape(record)
        if shape is None:
            self._not_followed(state, record, "a statement that sqlglot cannot read")
            return
        if reason := why_not_followed(shape, self.history.schema, state.claim.grammar):
            self._not_followed(state, record, reason)
            return
        self._visibility.may_be_late(state, record)
        self._start_late(state, record)
        self._others.require_newer_snapshot(state, shape.reads)
        modes = table_locks_of(shape)
        if not isinstance(record.outcome, Failed):
            self._waits.require_for_tables(state, record, modes)
        looks = not (shape.plain and adds_rows_only(shape))
        if looks and any(one.table in shape.reads for one in state.pending):
            self._after_a_broken_key(state, record, shape, alone)
        elif shape.writes_inside:
            self._writes_inside(state, record, shape)
        elif shape.verb is Verb.READ:
            self._reads.judge(state, record, shape, alone)
        else:
            self._writes.judge(state, record, shape)
        if not isinstance(record.outcome, Failed):
            self._waits.take_tables(state, record, modes)

    def _writes_inside(self, state: SessionState, record: Record, shape: Shape) -> None:
        if isinstance(record.outcome, Failed):
            self._not_followed(state, record, "a write inside of a query")
            return
        WritingCtes(self._context, self._writes, self._tracer).judge(state, record, shape)

    def _after_a_broken_key(self, state: SessionState, record: Record, shape: Shape, alone: bool) -> None:
        """Which of two rows with one key a transaction finds by it is not laid down; COMMIT decides."""
        if isinstance(record.outcome, Failed):
            self._failures.judge_conflict(state, record, record.outcome, may_fail=OF_THE_DATA)
        elif shape.verb is Verb.READ:
            followed = all(one.followed for one in state.pending if one.table in shape.reads)
            self._reads.judge_broken(state, record, shape, alone, followed)
        else:
            written = set(shape.writes)
            state.pending = [
                replace(one, sure=False, followed=False) if one.table in written else one
                for one in state.pending
            ]

    def _start_late(self, state: SessionState, record: Record) -> None:
        """PostgreSQL takes the snapshot of a statement when it has got the locks on its tables."""
        if state.claim.snapshot is SnapshotAt.STATEMENT and self._waits.waited_for_table(record):
            moments = range(self._timeline.launched_at[record.step], self.chains.clock + 1)
            if len(moments) > 1:
                moment = moments[len(moments) - 1 - self._choices.pick(len(moments))]
                self._timeline.start_over(record.step, moment)

    def _not_followed(self, state: SessionState, record: Record, reason: str) -> None:
        """A statement whose meaning is not known: that it failed may have to do with the rows, or not."""
        outcome = record.outcome
        if not isinstance(outcome, Failed) or outcome.kind in OF_THE_DATA:
            raise UndecidedError(reason)
        self._failures.judge_conflict(state, record, outcome)

    def _judge_final_state(self) -> None:
        for state in self.sessions.values():
            self._transactions.end(state, commit=False)
        self._follow_definitions()
        assert self.history.final is not None
        for table, rows in self.history.final.items():
            expected = self.chains.view(table, lambda version: self.chains.is_committed(version.writer))
            if not same_rows([seen.values for seen in expected], rows):
                witness = StateWitness(table, tuple(seen.values for seen in expected), tuple(rows))
                because = f"the committed transactions leave other rows in {table}"
                raise ViolationError(None, witness, because, table)
            self._judge_keys(table, expected)

    def _judge_keys(self, table: str, rows: Sequence[Seen]) -> None:
        """Transactions that did not see each other must not both have brought in the same key."""
        broken = broken_key(self.history.schema.table(table), rows)
        if broken is None:
            return
        index, holders = broken
        step = max(self.chains.newest(table, row).step or 0 for row in holders)
        because = f"two rows of {table} have the same key of the unique index {index.name}"
        raise ViolationError(step, ErrorWitness(frozenset({ErrorKind.DUPLICATE_KEY}), None), because, table)
