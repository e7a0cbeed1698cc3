"""The tables of the private database, read from information_schema in one round trip."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from acidtest.model import Action, Check, Column, ForeignKey, Index, Row, Schema, Table

MARKER_TABLE = "acidtest_marker"
"""Its presence says that acidtest made the database; it belongs to no case."""

TABLE_TYPES = ("BASE TABLE", "SYSTEM VERSIONED")
"""What information_schema calls a table with rows."""

_ESCAPED = re.compile(r"\b_\w+\\'")
"""MySQL gives a string in an expression its character set, and escapes the whole text once more."""

_OPTIONAL = (
    "CHECK_CONSTRAINTS",
    "COLUMNS",
    "PARTITIONS",
    "REFERENTIAL_CONSTRAINTS",
    "STATISTICS",
    "TIDB_INDEXES",
    "TRIGGERS",
)

_MAKERS = {
    "checks": re.compile(r"CHECK|JSON", re.IGNORECASE),  # MariaDB's JSON is text with a check
    "keys": re.compile(r"REFERENCES", re.IGNORECASE),
    "partitions": re.compile(r"PARTITION", re.IGNORECASE),
    "routines": re.compile(r"FUNCTION|PROCEDURE", re.IGNORECASE),
    "rules": re.compile(r"REFERENCES", re.IGNORECASE),
    "triggers": re.compile(r"TRIGGER", re.IGNORECASE),
}
"""Words without which no such part comes into being; each question costs up to a millisecond."""

_ANYTHING = re.compile(r"\b(LIKE|PREPARE|EXECUTE|CALL)\b", re.IGNORECASE)
"""What may make a part without naming it."""

Tells = frozenset[tuple[str, str]]
"""What the information_schema of this server has, by table and column; versions differ."""


def quote_name(name: str) -> str:
    """An identifier in the family's quotes."""
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A string literal. Only for names that acidtest makes or read from the catalog."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def inventory_question() -> str:
    """Asks once what the other questions may ask for."""
    names = ", ".join(map(quote_text, _OPTIONAL))
    return (
        "SELECT UPPER(TABLE_NAME), UPPER(COLUMN_NAME) FROM information_schema.COLUMNS"
        f" WHERE UPPER(TABLE_SCHEMA) = 'INFORMATION_SCHEMA' AND UPPER(TABLE_NAME) IN ({names})"
    )


def schema_questions(database: str, tells: Tells, foreign_keys: bool) -> dict[str, str]:
    """What a schema is made of, by name of the part. `foreign_keys`: whether the DBMS minds those it has."""
    text = quote_text(database)
    own = f"TABLE_SCHEMA = {text} AND TABLE_NAME <> {quote_text(MARKER_TABLE)}"

    def column(table: str, name: str) -> str:
        return name if (table, name) in tells else "NULL"

    # TiDB's STATISTICS does not tell that a key is a prefix
    tidb = ("TIDB_INDEXES", "SUB_PART") in tells
    indexes, index_name = ("TIDB_INDEXES", "KEY_NAME") if tidb else ("STATISTICS", "INDEX_NAME")
    questions = {
        # not as a subquery of the next question: MySQL 5.6 then finds no columns
        "tables": f"SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE {own}",
        "columns": (
            "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME,"
            f" {column('COLUMNS', 'GENERATION_EXPRESSION')}"
            f" FROM information_schema.COLUMNS WHERE {own} ORDER BY TABLE_NAME, ORDINAL_POSITION"
        ),
        "indexes": (
            f"SELECT TABLE_NAME, {index_name}, NON_UNIQUE, COLUMN_NAME, SUB_PART,"
            f" {column(indexes, 'EXPRESSION')}, {column(indexes, 'CLUSTERED')}"
            f" FROM information_schema.{indexes} WHERE {own} ORDER BY TABLE_NAME, {index_name}, SEQ_IN_INDEX"
        ),
        "routines": (
            f"SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {text} ORDER BY 1"
        ),
    }
    if ("TRIGGERS", "TRIGGER_NAME") in tells:
        questions["triggers"] = (
            "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS"
            f" WHERE TRIGGER_SCHEMA = {text} ORDER BY 1, 2"
        )
    if ("PARTITIONS", "PARTITION_NAME") in tells:
        questions["partitions"] = (
            "SELECT DISTINCT TABLE_NAME, PARTITION_NAME FROM information_schema.PARTITIONS"
            f" WHERE {own} AND PARTITION_NAME IS NOT NULL ORDER BY 1, 2"
        )
    if foreign_keys and ("REFERENTIAL_CONSTRAINTS", "DELETE_RULE") in tells:
        questions["rules"] = (
            "SELECT TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE"
            f" FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = {text}"
        )
        questions["keys"] = (
            "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME"
            f" FROM information_schema.KEY_COLUMN_USAGE WHERE {own} AND REFERENCED_TABLE_NAME IS NOT NULL"
            " ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION"
        )
    if (
        "CHECK_CONSTRAINTS",
        "TABLE_NAME",
    ) in tells:  # MariaDB: the name of a check is unique in its table only
        questions["checks"] = (
            "SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS"
            f" WHERE CONSTRAINT_SCHEMA = {text} ORDER BY 1, 2"
        )
    elif ("CHECK_CONSTRAINTS", "CHECK_CLAUSE") in tells:
        questions["checks"] = (
            "SELECT t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE"
            " FROM information_schema.CHECK_CONSTRAINTS c JOIN information_schema.TABLE_CONSTRAINTS t"
            " ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA"
            " AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME AND t.CONSTRAINT_TYPE = 'CHECK'"
            f" WHERE c.CONSTRAINT_SCHEMA = {text} AND t.ENFORCED = 'YES' ORDER BY 1, 2"
        )
    return questions


def worth_asking(questions: Mapping[str, str], made_by: Sequence[str]) -> dict[str, str]:
    """The questions whose answer is not known to be empty, given the statements that made the tables."""
    if any(map(_ANYTHING.search, made_by)):
        return dict(questions)
    return {
        part: question
        for part, question in questions.items()
        if part not in _MAKERS or any(map(_MAKERS[part].search, made_by))
    }


Answers = Mapping[str, Sequence[Row]]
_Part = TypeVar("_Part")


def read_schema(answers: Answers) -> Schema:
    """The schema from the answers by name of the part; the columns are those of views too."""
    columns = _by_table(answers["columns"], _read_columns)
    indexes = _by_table(answers["indexes"], _read_indexes)
    foreign_keys = _by_table(answers.get("keys", ()), _key_reader(answers.get("rules", ())))
    checks = _by_table(answers.get("checks", ()), _read_checks)
    triggers = _by_table(answers.get("triggers", ()), _read_names)
    partitions = _by_table(answers.get("partitions", ()), _read_names)
    kinds = sorted((_text(name), _text(kind)) for name, kind in answers["tables"])
    return Schema(
        tables=tuple(
            Table(
                name=name,
                columns=columns.get(name, ()),
                indexes=indexes.get(name, ()),
                foreign_keys=foreign_keys.get(name, ()),
                checks=checks.get(name, ()),
                triggers=triggers.get(name, ()),
                children=partitions.get(name, ()),
            )
            for name, kind in kinds
            if kind in TABLE_TYPES
        ),
        views=tuple(name for name, kind in kinds if kind == "VIEW"),
        functions=tuple(_text(name) for (name,) in answers.get("routines", ())),
    )


def _by_table(
    rows: Iterable[Row], read: Callable[[str, list[Row]], Iterator[_Part]]
) -> dict[str, tuple[_Part, ...]]:
    """What is read of the rows of each table; they begin with its name."""
    own: dict[str, list[Row]] = {}
    for table, *cells in rows:
        own.setdefault(_text(table), []).append(tuple(cells))
    return {table: tuple(read(table, cells)) for table, cells in own.items()}


def _read_columns(_table: str, rows: list[Row]) -> Iterator[Column]:
    """The columns that SELECT * shows; a hidden one is known only to statements that name it."""
    for name, type_, nullable, default, extra, collation, expression in rows:
        extras = _text(extra).upper()
        if "INVISIBLE" in extras:
            continue
        generated = "VIRTUAL" in extras or "STORED" in extras or "PERSISTENT" in extras
        yield Column(
            name=_text(name),
            type=_text(type_),
            nullable=_text(nullable) == "YES",
            # MariaDB writes the expression NULL where the others write nothing, seekdb how it is generated
            default=None if default is None or default == "NULL" or generated else _text(default),
            generated=generated,
            auto_increment="AUTO_INCREMENT" in extras,
            collation=None if collation is None else _text(collation),
            expression=_expression(expression) if generated and expression else None,
        )


def _read_indexes(_table: str, rows: list[Row]) -> Iterator[Index]:
    parts: dict[tuple[str, bool, bool | None], list[str]] = {}
    for name, non_unique, column, prefix, expression, kept_by in rows:
        part = f"({_expression(expression)})" if expression is not None else _text(column)
        if prefix is not None:
            part += f"({_text(prefix)})"
        clustered = None if kept_by is None else _text(kept_by) == "YES"
        parts.setdefault((_text(name), _text(non_unique) == "0", clustered), []).append(part)
    for (name, unique, clustered), columns in parts.items():
        yield Index(name, tuple(columns), unique, name == "PRIMARY", clustered=clustered)


def _key_reader(rules: Iterable[Row]) -> Callable[[str, list[Row]], Iterator[ForeignKey]]:
    """What reads foreign keys, given the actions of each by table and name."""
    actions = {
        (_text(table), _text(name)): (Action(_text(delete)), Action(_text(update)))
        for table, name, delete, update in rules
    }

    def read(table: str, rows: list[Row]) -> Iterator[ForeignKey]:
        for name in dict.fromkeys(_text(row[0]) for row in rows):
            own = [row for row in rows if _text(row[0]) == name]
            on_delete, on_update = actions[table, name]
            columns = tuple(_text(row[1]) for row in own)
            references = tuple(_text(row[3]) for row in own)
            yield ForeignKey(name, columns, _text(own[0][2]), references, on_delete, on_update)

    return read


def _read_checks(_table: str, rows: list[Row]) -> Iterator[Check]:
    return (Check(_text(name), _expression(clause)) for name, clause in rows)


def _read_names(_table: str, rows: list[Row]) -> Iterator[str]:
    return (_text(name) for (name,) in rows)


def _expression(value: object) -> str:
    text = _text(value)
    return re.sub(r"\\(.)", r"\1", text) if _ESCAPED.search(text) else text


def _text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
