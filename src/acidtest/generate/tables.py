"""Tables of a case: columns with the few values they like to hold, indexes, rows and the set-up's text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from sqlglot import exp

from acidtest.generate.flavour import Can, ColumnType, Family, Flavour, Renderer
from acidtest.generate.profile import Profile
from acidtest.model import Column, Index, Row, Table, Value

_WORDS = ("a", "b", "ab", "abc", "B", "x1", "zz", "", "cat", "dog", "10", "a b")
_FIRST_DAY = date(2024, 1, 1)
_KEYS = 7
"""How many values a key column likes to hold."""


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """A column; `pool` are its values of choice, so that writes meet and conditions hit."""

    name: str
    type: ColumnType
    pool: tuple[Value, ...]
    nullable: bool = True
    default: Value = None
    generated: str = ""
    """The column that it is one more than, or nothing."""
    key: bool = False
    """Part of a primary or unique index."""

    @property
    def has_default(self) -> bool:
        return self.default is not None

    def declaration(self) -> str:
        """The column in CREATE TABLE."""
        parts = [self.name, self.type.declared]
        if self.generated:
            parts.append(f"GENERATED ALWAYS AS ({self.generated} + 1) STORED")
        elif not self.nullable:
            parts.append("NOT NULL")
        if self.has_default:
            parts.append(f"DEFAULT {_text(self.default)}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class IndexDef:
    """An index; `prefix`: only the first characters of its one column count."""

    name: str
    columns: tuple[str, ...]
    unique: bool = False
    primary: bool = False
    prefix: int = 0

    def declaration(self, table: str) -> str:
        """CREATE INDEX; a primary key stands in CREATE TABLE."""
        columns = ", ".join(self.columns) + (f"({self.prefix})" if self.prefix else "")
        return f"CREATE {'UNIQUE ' if self.unique else ''}INDEX {self.name} ON {table} ({columns})"


@dataclass(frozen=True, slots=True)
class TableDef:
    """A table without its rows."""

    name: str
    columns: tuple[ColumnDef, ...]
    indexes: tuple[IndexDef, ...] = ()
    references: tuple[str, str, str] | None = None
    """A foreign key: own column, other table, its column."""

    @property
    def written(self) -> tuple[ColumnDef, ...]:
        """Columns that statements may write."""
        return tuple(column for column in self.columns if not column.generated)

    @property
    def uniques(self) -> tuple[IndexDef, ...]:
        return tuple(index for index in self.indexes if index.unique)

    def column(self, name: str) -> ColumnDef:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def whole(self, row: Row) -> Row:
        """A row of the written columns with the generated ones."""
        given = dict(zip((column.name for column in self.written), row, strict=True))
        return tuple(
            _one_more(given[column.generated]) if column.generated else given[column.name]
            for column in self.columns
        )

    def definitions(self) -> list[str]:
        """CREATE TABLE and CREATE INDEX."""
        parts = [column.declaration() for column in self.columns]
        parts += [f"PRIMARY KEY ({', '.join(one.columns)})" for one in self.indexes if one.primary]
        if self.references is not None:
            own, table, column = self.references
            parts.append(f"FOREIGN KEY ({own}) REFERENCES {table} ({column})")
        create = f"CREATE TABLE {self.name} ({', '.join(parts)})"
        return [create, *(one.declaration(self.name) for one in self.indexes if not one.primary)]

    def described(self) -> Table:
        """The table as a target would describe it, for the evaluator."""
        columns = [
            Column(one.name, one.type.spelled, one.nullable, collation=one.type.collation)
            for one in self.columns
        ]
        indexes = [Index(one.name, one.columns, one.unique, one.primary) for one in self.indexes]
        return Table(self.name, tuple(columns), tuple(indexes))


def _one_more(value: Value) -> Value:
    return value + 1 if isinstance(value, int) else None


# -- values


def literal(value: Value) -> exp.Expression:
    """A value as a constant."""
    if value is None:
        return exp.Null()
    if isinstance(value, int | float | Decimal):
        number = exp.Literal(this=str(abs(value)), is_string=False)
        return exp.Neg(this=number) if value < 0 else number
    return exp.Literal(this=str(value), is_string=True)


def _text(value: Value) -> str:
    return "NULL" if value is None else str(value) if not isinstance(value, str | date) else f"'{value}'"


def fresh_value(rng: Random, type_: ColumnType) -> Value:
    """A value that no pool knows of, small enough for sums and products to stay in range."""
    match type_.family:
        case Family.INTEGER:
            return max(
                type_.low, min(type_.high, rng.choice((0, 1, 2, 3, 5, 10, 100, -1, rng.randint(-20, 99))))
            )
        case Family.DECIMAL:
            return Decimal(rng.choice((0, 100, 150, -250, rng.randint(-999, 9999)))).scaleb(-2)
        case Family.DOUBLE:
            return rng.randint(-40, 400) / 4  # exact in binary, so that sums do not depend on their order
        case Family.TEXT:
            return rng.choice(_WORDS)
        case Family.DATE:
            return _FIRST_DAY + timedelta(days=rng.randint(0, 400))


def _pool(rng: Random, type_: ColumnType, size: int) -> tuple[Value, ...]:
    if type_.family is Family.INTEGER and rng.random() < 0.5:
        return tuple(range(size)) if rng.random() < 0.5 else tuple(range(1, size + 1))
    found: dict[Value, None] = {}
    for _ in range(4 * size):
        if len(found) < size:
            found[fresh_value(rng, type_)] = None
    return tuple(found)


def draw(rng: Random, column: ColumnDef, profile: Profile) -> Value:
    """A value for a column: mostly one it likes, sometimes a new one or NULL."""
    nulls = profile.null_key_share if column.key else profile.null_share
    if column.nullable and rng.random() < nulls:
        return None
    if rng.random() < profile.fresh_share:
        return fresh_value(rng, column.type)
    return rng.choice(column.pool)


# -- tables


def random_tables(rng: Random, profile: Profile, flavour: Flavour) -> tuple[TableDef, ...]:
    """The tables of a case."""
    count = rng.randint(1, profile.tables_max) if profile.tables_max > 1 else 1
    tables: list[TableDef] = []
    for number in range(count):
        # A table that refers to another has the lower name, so that emptying them by name works.
        table = _random_table(rng, "t" if count == 1 else f"t{count - number}", profile, flavour)
        tables.append(_with_reference(rng, table, tables, profile, flavour))
    return tuple(tables)


def _random_table(rng: Random, name: str, profile: Profile, flavour: Flavour) -> TableDef:
    weights = [one.weight for one in flavour.types]
    columns = []
    for number in range(1, _column_count(rng, profile) + 1):
        type_ = rng.choices(flavour.types, weights)[0]
        column = ColumnDef(f"c{number}", type_, _pool(rng, type_, rng.randint(2, profile.pool_max)))
        if rng.random() < profile.not_null_share:
            column = replace(column, nullable=False)
        if rng.random() < profile.default_share:
            column = replace(column, default=rng.choice(column.pool))
        columns.append(column)
    indexes = _random_indexes(rng, name, columns, profile, flavour)
    keys = {part for index in indexes if index.unique for part in index.columns}
    primary = {part for index in indexes if index.primary for part in index.columns}
    columns = [_as_key(rng, one, one.name in primary) if one.name in keys else one for one in columns]
    if flavour.can(Can.GENERATED) and rng.random() < profile.generated_share:
        columns += _generated_column(columns)
    return TableDef(name, tuple(columns), tuple(indexes))


def _column_count(rng: Random, profile: Profile) -> int:
    """Sometimes a single one, so that every write is one of the key."""
    return 1 if rng.random() < 0.1 else rng.randint(2, profile.columns_max)


def _as_key(rng: Random, column: ColumnDef, primary: bool) -> ColumnDef:
    """Key columns have more values, so that rows find room, and no default, which would collide."""
    pool = _pool(rng, column.type, _KEYS)
    return replace(column, key=True, pool=pool, default=None, nullable=column.nullable and not primary)


def _generated_column(columns: Sequence[ColumnDef]) -> list[ColumnDef]:
    base = next((one for one in columns if one.type.declared == "INT"), None)
    if base is None:
        return []
    name = f"c{len(columns) + 1}"
    return [ColumnDef(name, base.type, base.pool, generated=base.name)]


def _random_indexes(
    rng: Random, table: str, columns: Sequence[ColumnDef], profile: Profile, flavour: Flavour
) -> list[IndexDef]:
    names = [column.name for column in columns]
    indexes = []
    if rng.random() < profile.primary_share:
        # the first column most of the time, as people do
        first = names[0] if rng.random() < 0.8 else rng.choice(names)
        indexes.append(IndexDef("primary", _widened(rng, first, names, profile), unique=True, primary=True))
    for unique, share in ((True, profile.unique_share), (False, profile.secondary_share)):
        if rng.random() < share:
            parts = _widened(rng, rng.choice(names), names, profile)
            if all(index.columns != parts for index in indexes):
                indexes.append(IndexDef(f"i{len(indexes) + 1}_{table}", parts, unique))
    return [_perhaps_prefix(rng, index, columns, flavour) for index in indexes]


def _widened(rng: Random, first: str, names: Sequence[str], profile: Profile) -> tuple[str, ...]:
    others = [name for name in names if name != first]
    return (first, rng.choice(others)) if others and rng.random() < profile.composite_share else (first,)


def _perhaps_prefix(rng: Random, index: IndexDef, columns: Sequence[ColumnDef], flavour: Flavour) -> IndexDef:
    if index.unique or len(index.columns) > 1 or not flavour.can(Can.PREFIX_INDEX) or rng.random() < 0.5:
        return index
    column = next(one for one in columns if one.name == index.columns[0])
    return replace(index, prefix=2) if column.type.family is Family.TEXT else index


def _with_reference(
    rng: Random, table: TableDef, others: Sequence[TableDef], profile: Profile, flavour: Flavour
) -> TableDef:
    """A foreign key to a unique column of an earlier table, where one has the same type."""
    if not flavour.can(Can.FOREIGN_KEY) or rng.random() >= profile.foreign_key_share:
        return table
    for other in others:
        for index in other.uniques:
            parent = other.column(index.columns[0])
            own = [one for one in table.written if one.type == parent.type and not one.key and one.nullable]
            if len(index.columns) == 1 and own:
                column = replace(own[0], pool=parent.pool, default=None)
                columns = tuple(column if one.name == column.name else one for one in table.columns)
                return replace(table, columns=columns, references=(column.name, other.name, parent.name))
    return table


# -- rows


def random_rows(rng: Random, tables: Sequence[TableDef], profile: Profile) -> dict[str, tuple[Row, ...]]:
    """Rows for every table that fit its keys. Generated columns are left out."""
    rows: dict[str, tuple[Row, ...]] = {}
    for table in tables:
        count = rng.choice((0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, profile.rows_max))
        taken: set[tuple[object, ...]] = set()
        found: list[Row] = []
        for _ in range(2 * count):
            row = tuple(draw(rng, column, profile) for column in table.written)
            if len(found) < count and _fits(table, row, taken) and _has_parent(table, row, tables, rows):
                found.append(row)
        rows[table.name] = tuple(found)
    return rows


def _fits(table: TableDef, row: Row, taken: set[tuple[object, ...]]) -> bool:
    """Whether no row has one of its keys; if so, its keys are taken."""
    by_name = dict(zip((column.name for column in table.written), row, strict=True))
    keys = [
        (index.name, *(_as_collated(by_name[part]) for part in index.columns))
        for index in table.uniques
        if all(by_name[part] is not None for part in index.columns)
    ]
    if any(key in taken for key in keys):
        return False
    taken.update(keys)
    return True


def _as_collated(value: Value) -> Value:
    """Texts that some collation holds equal are the same key."""
    return value.rstrip().lower() if isinstance(value, str) else value


def _has_parent(
    table: TableDef, row: Row, tables: Sequence[TableDef], rows: dict[str, tuple[Row, ...]]
) -> bool:
    if table.references is None:
        return True
    own, other, parent = table.references
    value = row[[column.name for column in table.written].index(own)]
    other_columns = next(one for one in tables if one.name == other).written
    position = [column.name for column in other_columns].index(parent)
    return value is None or any(one[position] == value for one in rows[other])


def setup_statements(
    tables: Sequence[TableDef], rows: dict[str, tuple[Row, ...]], renderer: Renderer
) -> list[str]:
    """Definitions first, then the rows, so that the executor can refill instead of rebuild."""
    definitions = [text for table in tables for text in table.definitions()]
    return definitions + [
        renderer.text(_filling(table, own)) for table in tables if (own := rows[table.name])
    ]


def _filling(table: TableDef, rows: Sequence[Row]) -> exp.Expression:
    return insert_tree(table, table.written, [[literal(value) for value in row] for row in rows])


def table_node(name: str) -> exp.Table:
    """A table by its name (sqlglot's own helper would parse it)."""
    return exp.Table(this=exp.Identifier(this=name, quoted=False))


def insert_tree(
    table: TableDef, columns: Sequence[ColumnDef], rows: Sequence[Sequence[exp.Expression]]
) -> exp.Insert:
    """INSERT of values into these columns."""
    return insert_into(
        table, columns, exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows])
    )


def insert_into(table: TableDef, columns: Sequence[ColumnDef], source: exp.Expression) -> exp.Insert:
    """INSERT of a source of rows into these columns."""
    names = [exp.to_identifier(column.name) for column in columns]
    return exp.Insert(this=exp.Schema(this=table_node(table.name), expressions=names), expression=source)
