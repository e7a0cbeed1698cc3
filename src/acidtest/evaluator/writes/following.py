"""What foreign keys make of the changes of a statement, told as changes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from acidtest.evaluator.writes.effect import Change, RowId, Run, Work
from acidtest.evaluator.writes.links import Consequences, Move
from acidtest.evaluator.writes.target import Target
from acidtest.model import Row


def follow(target: Target, run: Run, changes: Sequence[Change], existing: Work) -> Consequences:
    """What follows from changes of the target, in this order, where `existing` are its rows before."""
    if not target.references.concerned:
        return Consequences()
    name = target.table.name
    live = dict(existing)
    moves = []
    for number, change in enumerate(changes):
        row = -number - 1 if change.row is None else change.row
        moves.append(Move(name, row, live.get(row), change.values))
        if change.values is None:
            live.pop(row, None)
        else:
            live[row] = change.values
    return follow_moves(target, run, moves, live)


def follow_moves(target: Target, run: Run, moves: Sequence[Move], live: Mapping[RowId, Row]) -> Consequences:
    """The same where the caller knows the moves; changes of the target itself bear no table."""
    if not target.references.concerned:
        return Consequences()
    name = target.table.name
    found = target.references.follow(moves, live, run)
    found.changes = [replace(one, table="") if one.table == name else one for one in found.changes]
    return found
