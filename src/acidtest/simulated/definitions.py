"""CREATE TABLE and CREATE INDEX as MariaDB would describe the result."""

from dataclasses import replace

from sqlglot import exp

from acidtest.model import Column, ErrorKind, Index, Schema, Table
from acidtest.simulated.problems import StatementFailed, unsupported
from acidtest.simulated.storage import Database
from acidtest.sql.trees import parse

COLLATION = "utf8mb4_general_ci"

_INTEGERS = {
    "TINYINT": "tinyint(4)",
    "SMALLINT": "smallint(6)",
    "INT": "int(11)",
    "BIGINT": "bigint(20)",
    "UTINYINT": "tinyint(3) unsigned",
    "USMALLINT": "smallint(5) unsigned",
    "UINT": "int(10) unsigned",
    "UBIGINT": "bigint(20) unsigned",
    "BOOLEAN": "tinyint(1)",
}
_PLAIN = {"DOUBLE": "double", "DATE": "date", "DATETIME": "datetime", "TEXT": "text"}
_WITH_LENGTH = {"VARCHAR": "varchar", "CHAR": "char"}
_TEXTS = ("VARCHAR", "CHAR", "TEXT")
_PRIMARY = "PRIMARY"


def define(database: Database, sql: str) -> None:
    """Run a CREATE TABLE, CREATE INDEX or DROP TABLE."""
    tree = parse(sql, "mysql")
    if isinstance(tree, exp.Drop) and tree.args.get("kind") == "TABLE":
        for table in tree.args["tables"]:
            _drop(database, table.name, bool(tree.args.get("exists")))
    elif isinstance(tree, exp.Create) and tree.args.get("kind") == "TABLE":
        table = created_table(tree)
        if table.name not in database.heaps:
            database.define(table)
        elif not tree.args.get("exists"):
            raise StatementFailed(ErrorKind.OBJECT_EXISTS, f"there is a table {table.name} already")
    elif isinstance(tree, exp.Create) and tree.args.get("kind") == "INDEX":
        _create_index(database, tree)
    else:
        raise unsupported(f"the statement {sql!r}")


def _drop(database: Database, name: str, tolerant: bool) -> None:
    if name in database.heaps:
        database.drop(name)
    elif not tolerant:
        raise StatementFailed(ErrorKind.NO_SUCH_OBJECT, f"there is no table {name}")


def _create_index(database: Database, tree: exp.Create) -> None:
    name = tree.this.args["table"].name
    if name not in database.heaps:
        raise StatementFailed(ErrorKind.NO_SUCH_OBJECT, f"there is no table {name}")
    if tree.args.get("unique") and database.heaps[name].rows:
        raise unsupported("making a unique index on a table that has rows")
    database.define(created_index(tree, database.schema))


def created_table(tree: exp.Create) -> Table:
    """The table that a CREATE TABLE makes."""
    if not isinstance(tree.this, exp.Schema) or tree.expression is not None:
        raise unsupported("this form of CREATE TABLE")
    if tree.find(exp.TemporaryProperty):
        raise unsupported("temporary tables")
    table = Table(tree.this.this.name, ())
    for node in tree.this.expressions:
        table = (
            _with_column(table, node) if isinstance(node, exp.ColumnDef) else _with_constraint(table, node)
        )
    keys = {name for index in table.indexes if index.primary for name in index.columns}
    columns = tuple(
        replace(column, nullable=column.nullable and column.name not in keys) for column in table.columns
    )
    return replace(table, columns=columns)


def created_index(tree: exp.Create, schema: Schema) -> Table:
    """The table after a CREATE INDEX."""
    index = tree.this
    table = schema.table(index.args["table"].name)
    parts = index.args["params"].args.get("columns") or []
    return _with_index(
        table, [_column_name(part) for part in parts], bool(tree.args.get("unique")), index.name
    )


def _with_column(table: Table, node: exp.ColumnDef) -> Table:
    kind = node.args["kind"]
    text = kind.this.value in _TEXTS
    column = Column(node.name, _spelling(kind), nullable=True, collation=COLLATION if text else None)
    keys: list[type[exp.Expression]] = []
    for constraint in node.args.get("constraints") or []:
        what = constraint.kind
        if isinstance(what, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
            keys.append(type(what))
        else:
            column = _constrained(column, what)
    table = replace(table, columns=(*table.columns, column))
    for key in keys:
        table = _with_key(table, [column.name], key is exp.PrimaryKeyColumnConstraint)
    return table


def _constrained(column: Column, what: exp.Expression) -> Column:
    if isinstance(what, exp.NotNullColumnConstraint):
        return replace(column, nullable=bool(what.args.get("allow_null")))
    if isinstance(what, exp.AutoIncrementColumnConstraint):
        return replace(column, auto_increment=True, nullable=False)
    if isinstance(what, exp.DefaultColumnConstraint):
        if isinstance(what.this, exp.Null):
            return column
        return replace(column, default=what.this.sql(dialect="mysql"))
    if isinstance(what, exp.CollateColumnConstraint):
        return replace(column, collation=what.this.name)
    if isinstance(what, exp.CharacterSetColumnConstraint) and what.this.name.lower() == "utf8mb4":
        return column  # the only one there is
    raise unsupported(f"the column option {what.sql(dialect='mysql')}")


def _spelling(kind: exp.DataType) -> str:
    name = kind.this.value
    sizes = [int(size.this.name) for size in kind.expressions]
    if name in _INTEGERS:
        return _INTEGERS[name]
    if name in _PLAIN and not sizes:
        return _PLAIN[name]
    if name in _WITH_LENGTH:
        return f"{_WITH_LENGTH[name]}({sizes[0] if sizes else 1})"
    if name == "DECIMAL":
        precision, scale = (*sizes, 10, 0)[:2] if not sizes else (*sizes, 0)[:2]
        return f"decimal({precision},{scale})"
    raise unsupported(f"the type {kind.sql(dialect='mysql')}")


def _with_constraint(table: Table, node: exp.Expression) -> Table:
    name = ""
    if isinstance(node, exp.Constraint) and len(node.expressions) == 1:
        name, node = node.name, node.expressions[0]
    if isinstance(node, exp.PrimaryKey):
        return _with_key(table, [_column_name(part) for part in node.expressions], primary=True)
    if isinstance(node, exp.UniqueColumnConstraint) and isinstance(node.this, exp.Schema):
        columns = [_column_name(part) for part in node.this.expressions]
        return _with_index(table, columns, unique=True, name=node.this.name or name)
    if isinstance(node, exp.IndexColumnConstraint):
        columns = [_column_name(part) for part in node.expressions]
        return _with_index(table, columns, unique=False, name=node.name)
    raise unsupported(f"the table option {node.sql(dialect='mysql')}")


def _with_key(table: Table, columns: list[str], primary: bool) -> Table:
    if not primary:
        return _with_index(table, columns, unique=True, name="")
    index = Index(_PRIMARY, tuple(columns), unique=True, primary=True)
    return replace(table, indexes=_sorted((*table.indexes, index)))


def _with_index(table: Table, columns: list[str], unique: bool, name: str) -> Table:
    if not columns:
        raise unsupported("an index without columns")
    index = Index(name or _free_name(table, columns[0]), tuple(columns), unique)
    return replace(table, indexes=_sorted((*table.indexes, index)))


def _free_name(table: Table, column: str) -> str:
    """MariaDB names an index after its first column, and numbers the next ones of that name from 2."""
    taken = {index.name for index in table.indexes}
    names = (column, *(f"{column}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _sorted(indexes: tuple[Index, ...]) -> tuple[Index, ...]:
    return tuple(sorted(indexes, key=lambda index: index.name))


def _column_name(node: exp.Expression) -> str:
    inner = node.this if isinstance(node, exp.Ordered) else node
    if not isinstance(inner, exp.Column | exp.Identifier):
        raise unsupported("an index on anything but columns")
    return inner.name
