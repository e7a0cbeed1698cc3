"""What an INSERT, UPDATE or DELETE does to the rows it is given: pure SQL, no isolation.

    write = compile_write(shape_of("UPDATE t SET a = a + 1", "mysql"), schema, dialect)
    write.run(work, existing, views).changes

Errors that the DBMS must raise, or may raise depending on the order in which it visits rows, are part of the
effect. What is not modelled raises `Unknown`.
"""

from acidtest.evaluator.writes.compiling import compile_write
from acidtest.evaluator.writes.effect import Change, Effect, RowId, UniqueIndex, Work, Write
from acidtest.evaluator.writes.joining import is_joined
from acidtest.evaluator.writes.target import has_strict_condition

__all__ = [
    "Change",
    "Effect",
    "RowId",
    "UniqueIndex",
    "Work",
    "Write",
    "compile_write",
    "has_strict_condition",
    "is_joined",
]
