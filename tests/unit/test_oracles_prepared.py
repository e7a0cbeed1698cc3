"""EXECUTE on MySQL: the statement is a text, its parameters are variables of the session."""

import pytest

from acidtest.model import Column, History, Index, Judgement, Level, Schema, Table
from tests.unit.told_histories import World, passes, unknown, verdict

T = Table(
    "t",
    (Column("id", "int", False), Column("v", "int", True)),
    (Index("PRIMARY", ("id",), True, primary=True),),
)
WORLD = World("mysql", Schema((T,)), {"t": ((1, 10), (2, 20))}, version="9.7.4")


def history(prepare: str, count: int, execute: str = "EXECUTE p USING @a") -> History:
    steps = (("tx1", "SET @a = 1", None), ("tx1", prepare, None), ("tx1", execute, count))
    return WORLD.history(Level.READ_COMMITTED, steps, {"t": ((1, 11), (2, 20))})


def test_execute_is_judged_with_its_variables() -> None:
    prepare = "PREPARE p FROM 'UPDATE t SET v = 11 WHERE id = ?'"
    assert passes(history(prepare, 1))
    assert verdict(history(prepare, 2)).judgement is Judgement.VIOLATION


@pytest.mark.parametrize(
    ("prepare", "execute"),
    [
        ("PREPARE p FROM @text", "EXECUTE p USING @a"),
        ("PREPARE p FROM 'UPDATE t SET v = 11 WHERE id = ?'", "EXECUTE p USING @b"),
        ("PREPARE p FROM 'UPDATE t SET v = 11 WHERE id = ?'", "EXECUTE p"),
    ],
)
def test_a_text_or_a_variable_may_not_be_known(prepare: str, execute: str) -> None:
    assert unknown(history(prepare, 1, execute))
