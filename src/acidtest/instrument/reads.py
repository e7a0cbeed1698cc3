"""Reads that also return identities and versions of the rows they found, or a look at the tables beside."""

from collections.abc import Sequence

from acidtest.instrument.columns import PROBE, ROW, VERSION
from acidtest.instrument.editing import Editor
from acidtest.instrument.sources import Source, hidden_tables, is_whole, refuse_stars, shown_tables
from acidtest.instrument.tables import Tables
from acidtest.sql.rendering import quote_name
from acidtest.sql.shape import Locking, Shape
from acidtest.sql.split import Rules


class Reads:
    """Adds to the select list what the shape of a read allows."""

    def __init__(self, tables: Tables, grammar: str, rules: Rules) -> None:
        self._tables, self._grammar, self._rules = tables, grammar, rules

    def texts(self, sql: str, shape: Shape) -> Sequence[str]:
        """The read, and a look at the versions of tables whose rows it does not show."""
        refuse_stars(shape.tree)
        shown = list(shown_tables(shape.tree, self._grammar))
        text = sql
        if shown and not (is_whole(shape.tree) and len(shown) == 1):
            editor = Editor.of(sql, self._rules)
            source = editor.find("FROM")
            assert source is not None  # its tables stand there
            editor.before(source, f"{self._columns(shown)} ")
            text = editor.text()
        if shape.locking is not Locking.NONE or shape.locks_inside:
            return (text,)  # a look that locks would lock more than the read does
        hidden = hidden_tables(shape.tree, [one.table for one in shown], self._grammar)
        return (text, *(version_set(table, self._grammar) for table in hidden))

    def _columns(self, shown: Sequence[Source]) -> str:
        return "".join(
            f", {quote_name(one.alias, self._grammar)}.{name} AS {name}_{number}"
            for number, one in enumerate(shown, start=1)
            for name in (ROW, VERSION)
        )


def version_set(table: str, grammar: str) -> str:
    """TxCheck's version-set read."""
    return f"SELECT {PROBE} {ROW}, {VERSION} FROM {quote_name(table, grammar)}"
