"""Statements that are run a second time: whether the answers agree, and why they need not."""

from acidtest.model import Affected, ErrorKind, Failed, History, Outcome, Rows, same_rows
from acidtest.oracles.engines import questions
from acidtest.oracles.engines.stability import same_answer, why_unstable
from acidtest.oracles.replay import OF_THE_DATA
from acidtest.sql.shape import Patience, Shape, Verb


def agree(observed: Outcome, again: Rows | Affected | Failed, shape: Shape | None) -> bool:
    """Whether a statement came to the same. Of several errors of the data any may come."""
    match observed, again:
        case Rows(), Rows():
            if shape is None:
                return same_rows(observed.rows, again.rows)
            return same_answer(shape.tree, again.rows, observed.rows)
        case Affected(), Affected():
            return observed.count == again.count
        case Failed(), Failed():
            return observed.kind in OF_THE_DATA and again.kind in OF_THE_DATA
    return False


def why_unsure(history: History, shape: Shape | None) -> str:
    """Why a statement may give other results although nothing is wrong; empty if it may not."""
    if shape is None:
        return "a statement that sqlglot cannot read"
    if questions.has_limit(shape):
        return "LIMIT"
    if shape.patience is Patience.SKIP:
        return "SKIP LOCKED"
    return why_unstable(shape) or why_numbers(history)


def why_numbers(history: History) -> str:
    """Why rows may be numbered in another way; empty if they are not numbered."""
    counts = any(column.auto_increment for table in history.schema.tables for column in table.columns)
    return "automatic numbers, which depend on the order in which they are asked for" if counts else ""


def is_collision(shape: Shape | None, *outcomes: Outcome) -> bool:
    """An UPDATE of several keys meets a duplicate on its way, or not, depending on which row goes first."""
    duplicate = any(isinstance(one, Failed) and one.kind is ErrorKind.DUPLICATE_KEY for one in outcomes)
    return duplicate and shape is not None and shape.verb is Verb.UPDATE
