"""The tables of a case as its set-up defines them, and the set-up with the columns added."""

from collections.abc import Iterator, Sequence

from acidtest.instrument.columns import COLUMNS, INITIAL_VERSION, PREVIOUS, ROW, VERSION
from acidtest.instrument.editing import Editor, joined
from acidtest.instrument.errors import NotInstrumentableError
from acidtest.model import Statement
from acidtest.sql import StatementKind, kind_of
from acidtest.sql.rendering import quote_name
from acidtest.sql.split import Rules

_CONSTRAINTS = frozenset(
    {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "KEY", "INDEX", "EXCLUDE", "FULLTEXT"}
)
_UNFOLLOWED = frozenset({"CASCADE", "TRIGGER", "RULE", "VIEW", "INHERITS", "LIKE"})
_DEFINITION = joined((f"{ROW} BIGINT NOT NULL", f"{VERSION} BIGINT NOT NULL", f"{PREVIOUS} BIGINT"))


class Tables:
    """Names of tables and of their columns, as they are read without the ones that were added."""

    def __init__(self, grammar: str, rules: Rules) -> None:
        self._grammar, self._rules = grammar, rules
        self.columns: dict[str, list[str]] = {}
        self._rows = 0

    def of_setup(self, setup: Sequence[Statement], indexed: bool) -> Iterator[str]:
        """The set-up with the columns; with an index on versions, if that is wanted."""
        texts = [self._instrumented(one.sql) for one in setup]
        definitions = [text for text in texts if kind_of(text) is StatementKind.DDL]
        yield from definitions
        for table in self.columns if indexed else ():
            name = quote_name(table, self._grammar)
            yield f"CREATE INDEX {quote_name(f'acid_{table}', self._grammar)} ON {name} ({VERSION})"
        yield from (text for text in texts if text not in definitions)

    def _instrumented(self, sql: str) -> str:
        editor = Editor.of(sql, self._rules)
        words = [piece.word for piece in editor.pieces]
        if _UNFOLLOWED & set(words) or ("SET" in words and "REFERENCES" in words):
            raise NotInstrumentableError("the set-up has objects that change rows by themselves")
        match words[:2]:
            case ["CREATE", "TABLE"]:
                return self._table(editor)
            case ["INSERT", "INTO"]:
                return self._rows_of(editor)
            case ["CREATE", "INDEX" | "UNIQUE"] | ["ALTER", "TABLE"] | ["SET", _]:
                return sql
            case _:
                raise NotInstrumentableError(f"a set-up with {' '.join(words[:2])}")

    def _table(self, editor: Editor) -> str:
        groups = editor.groups(0)
        if not groups:
            raise NotInstrumentableError("a table that is made of another")
        opened, closed = groups[0]
        table = self.name(editor.pieces[opened - 1].text)
        names: list[str] = []
        last, is_column = opened, True
        for place in range(opened + 1, closed):
            piece = editor.pieces[place]
            starts = piece.depth == 1 and (place == opened + 1 or editor.pieces[place - 1].text == ",")
            if starts:
                is_column = piece.word not in _CONSTRAINTS
                names += [self.name(piece.text)] if is_column else []
            if is_column and not (piece.depth == 1 and piece.text == ","):
                last = place
        if set(names) & set(COLUMNS):
            raise NotInstrumentableError("its tables have such columns already")
        self.columns[table] = names
        editor.after(last, _DEFINITION)
        return editor.text()

    def name(self, text: str) -> str:
        """A name as the DBMS reads it."""
        if text[:1] in ('"', "`"):
            return text[1:-1].replace(text[0] * 2, text[0])
        return text.lower() if self._grammar == "postgres" else text

    def _rows_of(self, editor: Editor) -> str:
        """An INSERT of rows that are written out."""
        values = editor.find("VALUES", "VALUE")
        if values is None:
            raise NotInstrumentableError("a set-up that computes its rows")
        self.add_names(editor, values)
        for _, closed in editor.groups(values + 1):
            self._rows += 1
            editor.before(closed, joined((str(self._rows), str(INITIAL_VERSION))))
        return editor.text()

    def add_names(self, editor: Editor, source: int) -> None:
        """Name the columns of an INSERT whose rows begin at a place."""
        added = (ROW, VERSION)
        groups = editor.groups(0, source)
        if groups:
            editor.before(groups[0][1], joined(added))
            return
        table = self.name(editor.pieces[source - 1].text)
        if table not in self.columns:
            raise NotInstrumentableError("an INSERT without the names of its columns")
        names = [quote_name(name, self._grammar) for name in self.columns[table]]
        editor.after(source - 1, f" ({', '.join([*names, *added])})")
