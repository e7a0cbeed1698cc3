"""Writes that give every row they touch a new version, and say which one it replaced."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from acidtest.claims import Claim, Sees
from acidtest.instrument.columns import PREVIOUS, PROBE, PROBE_BEFORE, ROW, VERSION
from acidtest.instrument.editing import Editor, joined
from acidtest.instrument.errors import NotInstrumentableError
from acidtest.instrument.reads import version_set
from acidtest.instrument.sources import hidden_tables, refuse_stars
from acidtest.instrument.tables import Tables
from acidtest.sql.named import alias_of, known_as, table_name
from acidtest.sql.rendering import quote_name
from acidtest.sql.shape import Shape, Verb
from acidtest.sql.split import Rules
from acidtest.targets.returning import Returning

_IDS = 1_000
"""Rows that one statement may bring in; the identity of a row begins with the number of its statement."""


class Writes:
    """Adds to a write what the DBMS allows, and probes for what it does not tell."""

    def __init__(self, tables: Tables, grammar: str, rules: Rules, returning: Returning) -> None:
        self._tables, self._grammar, self._rules, self._returning = tables, grammar, rules, returning
        self._ids_max = _IDS * _IDS

    def texts(self, sql: str, shape: Shape, number: int, claim: Claim) -> Sequence[str]:
        """The write and its probes, in their order."""
        if shape.writes_inside or shape.verb is Verb.MERGE or shape.returns or shape.only:
            raise NotInstrumentableError("a write inside of a query, MERGE, RETURNING or ONLY")
        refuse_stars(shape.tree)
        unknown = [table for table in shape.writes if table not in self._tables.columns]
        if unknown:
            raise NotInstrumentableError(f"{unknown[0]} is no table of the set-up")
        editor = Editor.of(sql, self._rules)
        match shape.verb:
            case Verb.UPDATE:
                texts = self._update(editor, shape, number)
            case Verb.DELETE:
                texts = self._delete(editor, shape, claim)
            case _:
                texts = self._insert(editor, shape, number)
        return (*texts, *self._version_sets(shape, claim))

    def _version_sets(self, shape: Shape, claim: Claim) -> Iterator[str]:
        """Looks at tables that subqueries read. Where these read newer rows than a plain read does, it is
        left open which they were: a look that locks would change the run."""
        sees = claim.insert_select_reads or claim.write
        if sees is Sees.COMMITTED and claim.plain_read is not Sees.COMMITTED:
            return
        for table in hidden_tables(shape.tree, [shape.target or ""], self._grammar):
            yield version_set(table, self._grammar)

    def _after(self, table: str, number: int) -> str:
        """TxCheck's after-write read, with all columns: it also tells what the new versions hold."""
        return f"SELECT {PROBE} * FROM {quote_name(table, self._grammar)} WHERE {VERSION} = {number}"

    # -- UPDATE

    def _update(self, editor: Editor, shape: Shape, number: int) -> Sequence[str]:
        place = editor.find("SET")
        if place is None:
            raise NotInstrumentableError("an UPDATE without SET")
        several = bool(shape.tree.this.args.get("joins"))
        sets = [self._sets(one, number, several) for one in self._written(shape)]
        editor.after(place, " " + ", ".join(sets) + ",")
        if not self._returning.update:
            return (editor.text(), *(self._after(table, number) for table in shape.writes))
        alias = quote_name(known_as(shape.tree.this, self._grammar), self._grammar)
        editor.append(f" RETURNING {alias}.*" if shape.tree.args.get("from_") else " RETURNING *")
        return (editor.text(),)

    def _written(self, shape: Shape) -> Iterator[exp.Table]:
        wanted = set(shape.writes)
        for one in shape.tree.find_all(exp.Table):
            name = table_name(one, self._grammar)
            if name in wanted and one.find_ancestor(exp.Subquery, exp.Select) is None:
                wanted.remove(name)
                yield one

    def _sets(self, table: exp.Table, number: int, several: bool) -> str:
        """The predecessor first: MySQL's family assigns from left to right."""
        own = quote_name(known_as(table, self._grammar), self._grammar)
        left = f"{own}." if several else ""
        return f"{left}{PREVIOUS} = {own}.{VERSION}, {left}{VERSION} = {number}"

    # -- DELETE

    def _delete(self, editor: Editor, shape: Shape, claim: Claim) -> Sequence[str]:
        if any(shape.tree.args.get(part) for part in ("tables", "using", "with_")) or len(shape.writes) > 1:
            raise NotInstrumentableError("a DELETE that joins tables")
        if self._returning.delete:
            editor.append(f" RETURNING {ROW}, {VERSION}")
            return (editor.text(),)
        start = editor.find("FROM")
        if start is None:
            raise NotInstrumentableError("a DELETE without FROM")
        # The rows that a DELETE takes away can only be told before; it locks them next in any case.
        lock = " FOR UPDATE" if claim.write is Sees.COMMITTED else ""
        rest = editor.sql[editor.pieces[start].start :].rstrip().rstrip(";")
        return (f"SELECT {PROBE_BEFORE} {ROW}, {VERSION} {rest}{lock}", editor.sql)

    # -- INSERT and REPLACE

    def _insert(self, editor: Editor, shape: Shape, number: int) -> Sequence[str]:
        assert shape.target is not None
        tree = shape.tree
        source = tree.args.get("expression")
        if isinstance(source, exp.Values):
            self._values(editor, number)
        elif isinstance(source, exp.Select):
            self._selected(editor, source, number)
        else:
            raise NotInstrumentableError("an INSERT of a set operation or of defaults")
        self._on_conflict(editor, tree, number)
        if self._returning.insert:
            editor.append(" RETURNING *")
            return (editor.text(),)
        return (editor.text(), self._after(shape.target, number))

    def _values(self, editor: Editor, number: int) -> None:
        values = editor.find("VALUES", "VALUE")
        if values is None:
            raise NotInstrumentableError("an INSERT without VALUES")
        self._tables.add_names(editor, values)
        end = editor.find("ON", "AS", "RETURNING", start=values)
        for place, (_, closed) in enumerate(editor.groups(values + 1, end)):
            editor.before(closed, joined((str(number * _IDS + place), str(number))))

    def _selected(self, editor: Editor, source: exp.Select, number: int) -> None:
        """The identity of a row that comes from another is made of that one's."""
        start, place = editor.find("SELECT"), editor.find("FROM")
        origin = source.args.get("from_")
        table = None if origin is None else origin.this
        shaped = any(source.args.get(part) for part in ("group", "distinct", "joins", "having", "laterals"))
        if not isinstance(table, exp.Table) or shaped or table.args.get("joins") or source.find(exp.AggFunc):
            raise NotInstrumentableError("an INSERT of rows that are no rows of one table")
        if start is None or place is None:
            raise NotInstrumentableError("an INSERT of rows that are no rows of one table")
        self._tables.add_names(editor, start)
        alias = quote_name(known_as(table, self._grammar), self._grammar)
        identity = f"{number * self._ids_max} + {alias}.{ROW}"
        self._ids_max *= _IDS
        if self._ids_max > 10**15:
            raise NotInstrumentableError("too many INSERTs of rows of other tables")
        editor.before(place, f"{joined((identity, str(number)))} ")

    def _on_conflict(self, editor: Editor, tree: exp.Expression, number: int) -> None:
        conflict = tree.args.get("conflict")
        if conflict is None or not conflict.expressions:
            return
        start = editor.find("ON", start=editor.find("VALUES", "SELECT") or 0)
        place = editor.find("SET" if not conflict.args.get("duplicate") else "UPDATE", start=start or 0)
        if place is None:
            raise NotInstrumentableError("an upsert that is not understood")
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        own = quote_name(alias_of(target, self._grammar) or table_name(target, self._grammar), self._grammar)
        editor.after(place, f" {PREVIOUS} = {own}.{VERSION}, {VERSION} = {number},")
