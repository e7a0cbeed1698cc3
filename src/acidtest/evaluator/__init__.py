"""The DBMS's own answer to an expression or a query, without the DBMS.

    dialect = dialect_of("mariadb")
    query = compile_query(parse("SELECT a FROM t WHERE a > 1", "mysql"), schema, dialect)
    query.run({"t": [(1,), (2,)]}).rows          # ((2,),)

What a DBMS would refuse raises `EvaluationError` with its kind; what is not modelled raises `Unknown`.
See docs/evaluator.md.
"""

from acidtest.evaluator.api import (
    DIALECTS,
    CompiledExpression,
    CompiledQuery,
    Views,
    compile_assignment,
    compile_conversion,
    compile_predicate,
    compile_query,
    compile_scalar,
    dialect_of,
)
from acidtest.evaluator.dialect import Dialect, Settings
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.result import Block, Result

__all__ = [
    "DIALECTS",
    "Block",
    "CompiledExpression",
    "CompiledQuery",
    "Dialect",
    "EvaluationError",
    "Result",
    "Settings",
    "Unknown",
    "Views",
    "compile_assignment",
    "compile_conversion",
    "compile_predicate",
    "compile_query",
    "compile_scalar",
    "dialect_of",
]
