"""The tables a case starts from, brought back as cheaply as truth allows.

DROP and CREATE cost milliseconds, DELETE and INSERT a tenth of one. So as long as consecutive cases share
their schema, and nothing happened that DELETE cannot take back, only the rows are renewed.
"""

from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp

from acidtest.model import Case, Schema, State
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.trees import parse
from acidtest.targets import Target


class Ground:
    """Prepares the private database of one target for case after case."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._built: tuple[str, ...] | None = None
        self._schema = Schema()
        self._states: dict[tuple[str, ...], State] = {}
        self._is_clear = False

    def prepare(self, case: Case, fresh: bool) -> tuple[Schema, State]:
        """Make the tables hold just what the set-up says; `fresh` insists on building them anew."""
        setup = [statement.sql for statement in case.setup]
        definitions, rows = _split_setup(setup)
        if rows is not None and not fresh and self._built == definitions:
            self._target.refill([table.name for table in self._schema.tables], rows)
            return self._schema, self._known_state(rows)
        if not self._is_clear:
            self.clear()
        self._is_clear = False
        self._target.build(setup)
        self._schema = self._target.schema()
        if rows is not None and not _counts(self._schema):
            self._built = definitions
        return self._schema, self.state()

    def _known_state(self, rows: Sequence[str]) -> State:
        """The state after refilling; rows that are written out need not be read again each time."""
        key = tuple(rows)
        state = self._states.get(key)
        if state is None:
            state = self.state()
            if all(_is_written_out(sql, self._target.dialect) for sql in rows):
                self._states[key] = state
        return state

    def state(self) -> State:
        """The committed rows of all tables."""
        return self._target.state([table.name for table in self._schema.tables])

    def reread(self) -> None:
        """The schema may have changed under us: read it again, and build the next case's tables anew."""
        self.forget()
        self._schema = self._target.schema()

    def clear(self) -> None:
        """Leave nothing in the database."""
        self.forget()
        self._target.clear()
        self._is_clear = True

    def forget(self) -> None:
        """Trust nothing that stands in the database."""
        self._built = None
        self._is_clear = False
        self._states.clear()


@lru_cache(maxsize=4096)
def _is_written_out(sql: str, dialect: str) -> bool:
    """Whether an INSERT names its values, so that it always gives the same rows."""
    tree = parse(sql, dialect)
    return isinstance(tree, exp.Insert) and tree.find(exp.Func, exp.Select, exp.Column) is None


def _split_setup(setup: Sequence[str]) -> tuple[tuple[str, ...], list[str] | None]:
    """Definitions, then the writes that fill them; None if the set-up is not of that plain shape."""
    kinds = [kind_of(sql) for sql in setup]
    first_row = next((i for i, kind in enumerate(kinds) if kind is not StatementKind.DDL), len(setup))
    definitions, rest = tuple(setup[:first_row]), list(setup[first_row:])
    plain = all(sql.split(None, 2)[1].upper() in ("TABLE", "INDEX", "UNIQUE") for sql in definitions)
    writes = all(kind is StatementKind.WRITE for kind in kinds[first_row:])
    return definitions, rest if plain and writes else None


def _counts(schema: Schema) -> bool:
    """Whether some table keeps a counter that outlives its rows."""
    return any(column.auto_increment for table in schema.tables for column in table.columns)
