"""Expressions over all rows of a table, compared with a server cell by cell."""

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from acidtest.evaluator import EvaluationError, Unknown, compile_scalar
from acidtest.model import Failed, Row, Rows
from acidtest.sql.trees import parse
from tests.evaluator.server import KINDS, Server
from tests.evaluator.tally import Tally


@dataclass(frozen=True)
class Expected:
    """What the evaluator says of an expression: a value, an error or a reason for each row."""

    sql: str
    cells: list[Any]

    def rows_with(self, *types: type) -> list[int]:
        """Positions of rows whose cell is of one of the types."""
        return [at for at, cell in enumerate(self.cells) if isinstance(cell, types)]

    @property
    def sure(self) -> list[int]:
        """Positions of rows with a value."""
        return [at for at, cell in enumerate(self.cells) if not isinstance(cell, EvaluationError | Unknown)]


def expect(server: Server, sql: str) -> Expected:
    """The evaluator's answer for every row of `t`."""
    table, rows = server.schema.table("t"), server.views["t"]
    tree = parse(f"SELECT {sql}", server.target.dbms)
    if not isinstance(tree, exp.Select):
        return Expected(sql, [Unknown("text that sqlglot does not read")] * len(rows))
    try:
        fn = compile_scalar(tree.expressions[0], table, server.dialect)
    except (EvaluationError, Unknown) as verdict:
        return Expected(sql, [verdict] * len(rows))
    return Expected(sql, [_cell(fn, row) for row in rows])


def _cell(fn: Any, row: Row) -> Any:
    try:
        return fn(row)
    except (EvaluationError, Unknown) as verdict:
        return verdict


def same(ours: Any, theirs: Any) -> bool:
    """Exactly the same value of the same type."""
    return type(ours) is type(theirs) and repr(ours) == repr(theirs)


def compare_batch(server: Server, texts: list[str], tally: Tally) -> None:
    """Compare expressions over all rows of `t`; those that are sure for every row in one query."""
    expected = [expect(server, text) for text in texts]
    whole = [one for one in expected if len(one.sure) == len(one.cells)]
    if whole:
        outcome = server.ask(f"SELECT {', '.join(one.sql for one in whole)} FROM t ORDER BY pk")
        if isinstance(outcome, Rows):
            for at, one in enumerate(whole):
                _compare_cells(server, one, one.sure, [row[at] for row in outcome.rows], tally)
        else:
            for one in whole:
                compare_one(server, one, tally)
    for one in expected:
        if one not in whole:
            compare_one(server, one, tally)


def compare_one(server: Server, one: Expected, tally: Tally) -> None:
    """Compare an expression by itself: its sure rows in one query, one of its errors in another."""
    for at in one.rows_with(Unknown):
        tally.unknown[one.cells[at].reason] += 1
    errors = one.rows_with(EvaluationError)
    if errors:
        _compare_error(server, one, errors[0], tally)
    if not one.sure:
        return
    keys = ", ".join(str(at + 1) for at in one.sure)
    outcome = server.ask(f"SELECT {one.sql} FROM t WHERE pk IN ({keys}) ORDER BY pk")
    if isinstance(outcome, Failed):
        disagree(server, one, one.sure[0], outcome, tally)
    elif isinstance(outcome, Rows):
        _compare_cells(server, one, one.sure, [row[0] for row in outcome.rows], tally)


def _compare_cells(server: Server, one: Expected, at: list[int], theirs: list[Any], tally: Tally) -> None:
    tally.cells += len(at)
    for position, value in zip(at, theirs, strict=True):
        if not same(one.cells[position], value):
            disagree(server, one, position, value, tally)
            return


def _compare_error(server: Server, one: Expected, at: int, tally: Tally) -> None:
    tally.cells += 1
    tally.errors += 1
    outcome = server.ask(f"SELECT {one.sql} FROM t WHERE pk = {at + 1}")
    kind = outcome.kind if isinstance(outcome, Failed) else None
    if kind is not one.cells[at].kind:
        disagree(server, one, at, outcome, tally)


def disagree(server: Server, one: Expected, at: int, theirs: Any, tally: Tally) -> None:
    """Record a disagreement by its smallest part that still disagrees."""
    row = server.views["t"][at]
    names = [column.name for column in server.schema.table("t").columns]
    small, ours, answer = _shrunk(server, one.sql, at) or (one.sql, one.cells[at], theirs)
    tree = parse(f"SELECT {small}", server.target.dbms)
    used = {str(column.this.this) for column in tree.find_all(exp.Column)} if tree is not None else set()
    values = {name: value for name, value in zip(names, row, strict=True) if name in used}
    tally.disagreements.append(
        f"  {small}\n    with {values}\n    ours {ours!r}\n    server {_shown(answer)}"
    )


def _shown(answer: Any) -> str:
    return f"{answer.kind} {answer.code} {answer.message}" if isinstance(answer, Failed) else repr(answer)


def _shrunk(server: Server, sql: str, at: int) -> tuple[str, Any, Any] | None:
    """The smallest subexpression whose answer for the row still differs."""
    tree = parse(f"SELECT {sql}", server.target.dbms)
    if tree is None:
        return None
    grammar = server.target.dbms if server.target.dbms in KINDS else "mysql"
    parts = {part.sql(grammar) for part in tree.expressions[0].walk() if isinstance(part, exp.Condition)}
    for text in sorted(parts, key=len):
        cell = expect(server, text).cells[at]
        if isinstance(cell, Unknown):
            continue
        outcome = server.ask(f"SELECT {text} FROM t WHERE pk IN ({at + 1}, -1)")
        if isinstance(outcome, Failed):
            if not isinstance(cell, EvaluationError) or cell.kind is not outcome.kind:
                return text, cell, outcome
        elif isinstance(outcome, Rows):
            answer = outcome.rows[0][0]
            if isinstance(cell, EvaluationError) or not same(cell, answer):
                return text, cell, answer
    return None
