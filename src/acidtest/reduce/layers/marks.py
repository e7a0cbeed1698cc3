"""What a case says beside its statements: joined steps, awaits, a strict order, a teardown."""

from collections.abc import Iterator

from acidtest.reduce.operations import Operation
from acidtest.reduce.script import Draft, Edit, Script


def _marks(script: Script) -> Iterator[Edit]:
    """A statement stands for itself, and is not awaited."""
    first = len(script.case.setup)
    for step in script.case.steps:
        if step.statement.joined or step.statement.awaits:
            yield _unmarked(first + step.index)


def _unmarked(place: int) -> Edit:
    return lambda draft: draft.unmark(place)


def _order(script: Script) -> Iterator[Edit]:
    """Others may overtake."""
    if script.case.strict:
        yield Draft.let_overtake


def _teardown(script: Script) -> Iterator[Edit]:
    """Nothing is left to take back."""
    if script.case.teardown:
        yield Draft.leave_standing


MARKS = (Operation("teardown", _teardown), Operation("strict order", _order), Operation("mark", _marks))
