"""Explains a violation by versions: who wrote each row, why it is visible or not, and what it is called."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from acidtest.claims import Quirk
from acidtest.claims.embedded import UPDATE_MISSES_DELETE
from acidtest.claims.innodb import (
    DIRTY_UPDATE,
    MOVED_ROW,
    NO_ERROR_OVER_INDEX,
    OLD_KEY_SEEN,
    REPEATED_ROW,
    SAME_VALUE_UPDATE,
    SAVEPOINT_LOSES_SNAPSHOT,
    SEMI_CONSISTENT_READ,
)
from acidtest.model import (
    Affected,
    History,
    Judgement,
    KnownBehaviour,
    Record,
    Row,
    RowDifference,
    Rows,
    Verdict,
    ViolationKind,
)
from acidtest.mvcc import INITIAL, Version
from acidtest.oracles.replay import Replay, ViolationError
from acidtest.oracles.replay.clustered import key_of
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.shape import Shape, Verb


def explain(oracle: str, replay: Replay, violation: ViolationError) -> Verdict:
    """The verdict for a violation, with its rows explained as far as versions explain them."""
    differences = tuple(_differences(replay, violation))
    quirk = _quirk(replay, violation, differences)
    return Verdict(
        oracle,
        Judgement.VIOLATION,
        kind=violation.kind,
        step=violation.step,
        anomaly=_anomaly(violation, differences),
        expected=violation.expected,
        observed=violation.observed,
        explanation=violation.explanation,
        differences=differences,
        known=None if quirk is None else KnownBehaviour(quirk.name, quirk.link),
    )


DIRTY = "not committed"
ABORTED = "rolled back"
LATER = "after the snapshot"
OWN = "itself"
DELETED = "deleted"
REPEATED = "it must be seen, but not so many times"


def _differences(replay: Replay, violation: ViolationError) -> Iterator[RowDifference]:
    """Rows too many and too few. Only whole rows of one table can be traced to their versions."""
    if violation.kind not in (ViolationKind.WRONG_ROWS, ViolationKind.WRONG_FINAL_STATE):
        return
    observed, expected = Counter(_observed_rows(replay.history, violation)), Counter(violation.expected_rows)
    whole = _are_whole_rows(replay.history, violation)
    for row in (observed - expected).elements():
        why = _why_wrong(replay, violation, row) if whole else ""
        yield RowDifference(row, True, REPEATED if row in expected else why, violation.table)
    for row in (expected - observed).elements():
        yield RowDifference(row, False, _why_due(replay, violation, row) if whole else "", violation.table)


def _are_whole_rows(history: History, violation: ViolationError) -> bool:
    if not violation.table or violation.step is None:
        return bool(violation.table)
    outcome = history.records[violation.step].outcome
    columns = [column.name.lower() for column in history.schema.table(violation.table).columns]
    return isinstance(outcome, Rows) and [name.lower() for name in outcome.columns] == columns


def _observed_rows(history: History, violation: ViolationError) -> Sequence[Row]:
    if violation.step is None:
        return (history.final or {}).get(violation.table, ())
    outcome = history.records[violation.step].outcome
    return outcome.rows if isinstance(outcome, Rows) else ()


def _why_wrong(replay: Replay, violation: ViolationError, row: Row) -> str:
    """Where a row that must not be seen comes from."""
    version = _version_with(replay, violation.table, row)
    if version is None:
        return f"no version of a row has these values now; if one had, it was {ABORTED}"
    who = _writer(replay, version)
    session = None if violation.step is None else replay.history.records[violation.step].session
    if replay.owners.get(version.writer) == session and version.writer != INITIAL:
        return f"an older version that {who} wrote {OWN}"
    if not replay.chains.is_committed(version.writer):
        return f"written by {who}, {DIRTY}"
    newest = replay.chains.newest(violation.table, version.row)
    if newest.deleted:
        return f"written by {who}, but {DELETED} by {_writer(replay, newest)}"
    if newest is version:
        return f"committed by {who} {LATER}"
    return f"an old version by {who}; {_writer(replay, newest)} has replaced it"


def _why_due(replay: Replay, violation: ViolationError, row: Row) -> str:
    """Why a row that is missing must be seen."""
    version = _version_with(replay, violation.table, row)
    if version is None:
        return "it must be seen"
    session = None if violation.step is None else replay.history.records[violation.step].session
    if version.writer != INITIAL and replay.owners.get(version.writer) == session:
        return f"{session} wrote it {OWN} (step {version.step})"
    if version.writer == INITIAL:
        return "it was there from the start, and nobody that counts has changed it"
    if not replay.chains.is_committed(version.writer):
        return f"{_writer(replay, version)} wrote it, and what is not committed counts here"
    return f"{_writer(replay, version)} committed it in time"


def _version_with(replay: Replay, table: str, row: Row) -> Version | None:
    found = [
        version for _, versions in replay.chains.rows(table) for version in versions if version.values == row
    ]
    return found[-1] if found else None


def _writer(replay: Replay, version: Version) -> str:
    if version.writer == INITIAL:
        return "the set-up"
    step = "" if version.step is None else f" (step {version.step})"
    return f"{replay.owners.get(version.writer, 'another transaction')}{step}"


def _anomaly(violation: ViolationError, differences: Sequence[RowDifference]) -> str:
    """The literature's name for the shape, where it has one."""
    if violation.kind is ViolationKind.MISSING_BLOCK:
        return "dirty write (G0, P0)"
    reasons = " ".join(difference.why for difference in differences if difference.extra)
    missing = " ".join(difference.why for difference in differences if not difference.extra)
    if violation.kind is not ViolationKind.WRONG_ROWS:
        return ""
    if DIRTY in reasons:
        return "dirty read (P1, G1b)"
    if ABORTED in reasons:
        return "aborted read (G1a)"
    if OWN in missing:
        return "own write not seen"
    if DELETED in reasons:
        return "deleted row seen"
    if LATER in reasons:
        return "non-repeatable read or phantom (P2, P3)"
    return ""


def _quirk(replay: Replay, violation: ViolationError, differences: Sequence[RowDifference]) -> Quirk | None:
    """The known behaviour whose shape this is."""
    if replay.doubted and any(SEMI_CONSISTENT_READ in one.claim.quirks for one in replay.sessions.values()):
        return SEMI_CONSISTENT_READ  # the guess did not hold: rows were passed by that had to be found
    if _may_have_passed_by(replay):
        return DIRTY_UPDATE
    if violation.step is None:
        return UPDATE_MISSES_DELETE if _lost_to_a_delete(replay) else None
    record = replay.history.records[violation.step]
    quirks = replay.sessions[record.session].claim.quirks
    if SAVEPOINT_LOSES_SNAPSHOT in quirks and _went_back(replay, record):
        return SAVEPOINT_LOSES_SNAPSHOT
    if REPEATED_ROW in quirks and any(one.why == REPEATED for one in differences):
        return REPEATED_ROW
    if SAME_VALUE_UPDATE in quirks and _is_same_value(replay, record, differences):
        return SAME_VALUE_UPDATE
    if violation.kind is ViolationKind.MISSING_BLOCK and _may_have_missed_a_row(replay):
        return MOVED_ROW  # so it has no lock on it either
    if SEMI_CONSISTENT_READ in quirks and record.waited and _is_update(replay, record):
        return SEMI_CONSISTENT_READ  # InnoDB does so for UPDATE alone
    if MOVED_ROW in quirks and record.waited:
        return MOVED_ROW
    if OLD_KEY_SEEN in quirks and violation.kind is ViolationKind.WRONG_ROWS and _has_old_key(replay, record):
        return OLD_KEY_SEEN
    if NO_ERROR_OVER_INDEX in quirks and violation.kind is ViolationKind.WRONG_ERROR:
        return NO_ERROR_OVER_INDEX if isinstance(record.outcome, Rows) else None
    if UPDATE_MISSES_DELETE in quirks:
        no_error = violation.kind is ViolationKind.WRONG_ERROR and isinstance(record.outcome, Affected)
        lost = violation.kind is ViolationKind.WRONG_ROWS and _lost_to_a_delete(replay)
        return UPDATE_MISSES_DELETE if no_error or lost else None
    return None


def _may_have_missed_a_row(replay: Replay) -> bool:
    """A write waited while a row may have got another key, and what it says does not tell."""
    return any(
        record.waited
        and MOVED_ROW in replay.sessions[record.session].claim.quirks
        and _is_update(replay, record)
        for record in replay.history.records
    )


def _may_have_passed_by(replay: Replay) -> bool:
    """An UPDATE that did not wait may have decided by rows that were not committed."""
    for record in replay.history.records:
        quirks = replay.sessions[record.session].claim.quirks
        if DIRTY_UPDATE in quirks and not record.waited and _is_update(replay, record):
            return True
    return False


def _lost_to_a_delete(replay: Replay) -> bool:
    """A DELETE took part; an upsert, and an UPDATE of a column with an index, are one too, to the server."""
    for record in replay.history.records:
        standing = replay.sessions[record.session]
        shape = standing.shape(record)
        if UPDATE_MISSES_DELETE not in standing.claim.quirks or shape is None or shape.target is None:
            continue
        upserts = shape.tree.args.get("conflict") is not None
        moves = shape.verb is Verb.UPDATE and _sets_indexed(replay.history, shape)
        if shape.verb is Verb.DELETE or upserts or moves:
            return True
    return False


def _sets_indexed(history: History, shape: Shape) -> bool:
    assert shape.target is not None
    indexed = {name for index in history.schema.table(shape.target).indexes for name in index.columns}
    return any(item.this.name in indexed for item in shape.tree.expressions)


def _went_back(replay: Replay, record: Record) -> bool:
    """Whether the session has gone back to a savepoint before."""
    return any(
        one.session == record.session
        and kind_of(one.sql) is StatementKind.SAVEPOINT
        and one.sql.lstrip().upper().startswith("ROLLBACK")
        for one in replay.history.records[: record.step]
    )


def _is_update(replay: Replay, record: Record) -> bool:
    shape = replay.sessions[record.session].shape(record)
    return shape is not None and shape.verb is Verb.UPDATE


def _has_old_key(replay: Replay, record: Record) -> bool:
    """The transaction has written a row after another one had changed the key that it is kept by."""
    own = replay.sessions[record.session].transaction
    for table in replay.history.schema.tables:
        for _, versions in replay.chains.rows(table.name):
            for older, newer in pairwise(versions):
                if older.values is None or newer.values is None or versions[-1].writer != own:
                    continue
                moved = key_of(table, older.values) != key_of(table, newer.values)
                if moved and newer.writer != own:
                    return True
    return False


def _is_same_value(replay: Replay, record: Record, differences: Sequence[RowDifference]) -> bool:
    """A row is missing, and the transaction itself has written one as another had left it."""
    own = replay.sessions[record.session].transaction
    return any(not difference.extra for difference in differences) and any(
        newer.writer == own != older.writer and newer.values == older.values
        for table in replay.history.schema.tables
        for _, versions in replay.chains.rows(table.name)
        # REPLACE deletes the row before it writes it again
        for older, newer in pairwise(one for one in versions if not (one.deleted and one.writer == own))
    )
