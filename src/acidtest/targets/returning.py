"""Which writes answer with the rows that they wrote, by DBMS and version; and what scans lock."""

from collections.abc import Mapping
from dataclasses import dataclass

from acidtest.model.version import is_within


@dataclass(frozen=True, slots=True)
class Returning:
    """What may have a RETURNING clause. `indexed`: a plain read at SERIALIZABLE locks the rows it scans, so
    that one which looks for a version needs an index to leave the others alone."""

    insert: bool = False
    update: bool = False
    delete: bool = False
    indexed: bool = False


_ALL = Returning(insert=True, update=True, delete=True)
_RETURNING: Mapping[str, tuple[tuple[tuple[str, ...], Returning], ...]] = {
    "postgres": (((), _ALL),),
    # https://www.sqlite.org/lang_returning.html
    "sqlite": (((">=3.35",), _ALL), ((), Returning())),
    # https://duckdb.org/docs/stable/sql/statements/insert#returning-clause
    "duckdb": (((), _ALL),),
    # https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/inserting-loading-data/insertreturning
    "mariadb": (
        ((">=10.5",), Returning(insert=True, delete=True, indexed=True)),
        ((), Returning(delete=True, indexed=True)),
    ),
    "mysql": (((), Returning(indexed=True)),),
    "tidb": (((), Returning(indexed=True)),),
    "seekdb": (((), Returning(indexed=True)),),
    "simulated": (((), Returning()),),
}
"""By DBMS, the newest versions first."""


def returning_of(dbms: str, version: str) -> Returning:
    """What a server can answer writes with."""
    for bounds, found in _RETURNING.get(dbms, ()):
        if not bounds or is_within(version, bounds):
            return found
    return Returning()
