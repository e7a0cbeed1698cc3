"""Completes a violation of the walk: who wrote each wrong row, whether it counts, and the phenomenon."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from acidtest.model import (
    CountWitness,
    ErrorWitness,
    History,
    Hold,
    Phenomenon,
    Reason,
    Row,
    RowDifference,
    Rows,
    RowsWitness,
    StateWitness,
    Violation,
    ViolationKind,
    WaitWitness,
    Witness,
)
from acidtest.oracles.chains import INITIAL, Version
from acidtest.oracles.replay import Replay, ViolationError
from acidtest.sql.shape import Verb, shape_of

_KINDS: dict[type[Witness], ViolationKind] = {
    RowsWitness: ViolationKind.WRONG_ROWS,
    CountWitness: ViolationKind.WRONG_AFFECTED_COUNT,
    ErrorWitness: ViolationKind.WRONG_ERROR,
    WaitWitness: ViolationKind.MISSING_BLOCK,
    StateWitness: ViolationKind.WRONG_FINAL_STATE,
}


def violation_of(replay: Replay, error: ViolationError) -> Violation:
    """The violation with its rows traced to versions, as far as they can be."""
    witness = error.witness
    if isinstance(witness, RowsWitness | StateWitness):
        witness = replace(witness, differences=tuple(_differences(replay, error, witness)))
    return Violation(
        _KINDS[type(witness)], error.step, witness, error.because, _phenomenon(replay, error, witness)
    )


def _differences(
    replay: Replay, error: ViolationError, witness: RowsWitness | StateWitness
) -> Iterator[RowDifference]:
    """Rows too many and too few. Only columns of one table can be traced to versions of its rows."""
    observed, expected = Counter(witness.observed), Counter(witness.expected)
    columns = _columns(replay.history, error)
    tracer = None if columns is None else _Tracer(replay, error, columns)
    for row in (observed - expected).elements():
        if row in expected:
            yield RowDifference(row, True, Reason.REPEATED, error.table)
        else:
            yield _untraced(row, True, error) if tracer is None else tracer.extra(row)
    if isinstance(witness, RowsWitness) and witness.partial:
        return
    for row in (expected - observed).elements():
        yield _untraced(row, False, error) if tracer is None else tracer.missing(row)


def _untraced(row: Row, extra: bool, error: ViolationError) -> RowDifference:
    return RowDifference(row, extra, Reason.UNTRACED, error.table)


def _columns(history: History, error: ViolationError) -> tuple[int, ...] | None:
    """The positions of the table's columns that the rows consist of; None if they hold something else."""
    if not error.table:
        return None
    names = [column.name.lower() for column in history.schema.table(error.table).columns]
    if error.step is None:
        return tuple(range(len(names)))
    record = history.records[error.step]
    if not isinstance(record.outcome, Rows):
        return None
    shown = [name.lower() for name in record.outcome.columns]
    if shown == names:
        return tuple(range(len(names)))
    shape = shape_of(record.sql, history.dbms)
    bare = shape is not None and all(isinstance(one, exp.Column) for one in shape.tree.expressions)
    return tuple(map(names.index, shown)) if bare and set(shown) <= set(names) else None


class _Tracer:
    """Traces rows of one table to the versions that hold their values."""

    def __init__(self, replay: Replay, error: ViolationError, columns: Sequence[int]) -> None:
        self._replay, self._table, self._columns = replay, error.table, columns
        self._session = None if error.step is None else replay.history.records[error.step].session

    def extra(self, row: Row) -> RowDifference:
        """Where a row that must not be seen comes from."""
        version = self._living(row)
        if version is None:
            undone = self._undone(row)
            return self._told(
                row, True, Reason.NEVER_WRITTEN if undone is None else Reason.ROLLED_BACK, undone
            )
        chains = self._replay.chains
        newest = chains.newest(self._table, version.row)
        if self._is_own(version):
            return self._told(row, True, Reason.OWN_REPLACED, version, newest)
        if not chains.is_committed(version.writer):
            return self._told(row, True, Reason.UNCOMMITTED, version)
        if newest.deleted:
            return self._told(row, True, Reason.DELETED, version, newest)
        if newest is version:
            return self._told(row, True, Reason.LATER, version)
        return self._told(row, True, Reason.REPLACED, version, newest)

    def missing(self, row: Row) -> RowDifference:
        """Why a row that is missing must be seen."""
        version = self._living(row)
        if version is None:
            return self._told(row, False, Reason.UNTRACED, None)
        newest = self._replay.chains.newest(self._table, version.row)
        since = None if newest is version else newest
        if self._is_own(version):
            return self._told(row, False, Reason.OWN, version, since)
        if version.writer == INITIAL:
            return self._told(row, False, Reason.INITIAL, version, since)
        committed = self._replay.chains.is_committed(version.writer)
        return self._told(row, False, Reason.COMMITTED if committed else Reason.DIRTY_COUNTS, version, since)

    def _told(
        self, row: Row, extra: bool, reason: Reason, version: Version | None, newest: Version | None = None
    ) -> RowDifference:
        return RowDifference(
            row,
            extra,
            reason,
            self._table,
            writer=self._owner(version),
            step=None if version is None else version.step,
            by=self._owner(newest),
            by_step=None if newest is None else newest.step,
        )

    def _is_own(self, version: Version) -> bool:
        return version.writer != INITIAL and self._replay.owners.get(version.writer) == self._session

    def _owner(self, version: Version | None) -> str:
        return "" if version is None else self._replay.owners.get(version.writer, "")

    def _living(self, row: Row) -> Version | None:
        found = [
            version
            for _, versions in self._replay.chains.rows(self._table)
            for version in versions
            if self._shows(version, row)
        ]
        return found[-1] if found else None

    def _shows(self, version: Version, row: Row) -> bool:
        return version.values is not None and tuple(version.values[one] for one in self._columns) == row

    def _undone(self, row: Row) -> Version | None:
        found = [
            version
            for table, version in self._replay.chains.undone
            if table == self._table and self._shows(version, row)
        ]
        return found[-1] if found else None


# -- names


def _phenomenon(replay: Replay, error: ViolationError, witness: Witness) -> Phenomenon | None:
    """The literature's name for what was seen, where the evidence is enough for one."""
    if isinstance(witness, WaitWitness):
        return Phenomenon.G0 if _is_dirty_write(replay, error, witness) else None
    if isinstance(witness, RowsWitness):
        return _of_rows(replay, error, witness.differences)
    return None


def _is_dirty_write(replay: Replay, error: ViolationError, witness: WaitWitness) -> bool:
    """A write went over a row that another transaction has written and not committed."""
    if witness.hold is not Hold.WRITTEN_ROW or error.step is None:
        return False
    record = replay.history.records[error.step]
    shape = replay.sessions[record.session].shape(record)
    return shape is not None and shape.verb is not Verb.READ


_BY_REASON = {
    Reason.ROLLED_BACK: Phenomenon.G1A,
    Reason.UNCOMMITTED: Phenomenon.P1,
}


def _of_rows(
    replay: Replay, error: ViolationError, differences: Sequence[RowDifference]
) -> Phenomenon | None:
    reasons = {one.reason for one in differences if one.extra}
    for reason, phenomenon in _BY_REASON.items():
        if reason in reasons:
            return phenomenon
    if Reason.LATER in reasons and error.step is not None:
        return _of_later(replay, error.table, differences)
    return None


def _of_later(replay: Replay, table: str, differences: Sequence[RowDifference]) -> Phenomenon:
    """A new version of a row that was there before, or a row that was not."""
    later = [one.row for one in differences if one.reason is Reason.LATER]
    chains = [versions for _, versions in replay.chains.rows(table) if versions[-1].values in later]
    fuzzy = any(len(versions) > 1 for versions in chains)
    return Phenomenon.P2 if fuzzy else Phenomenon.P3
