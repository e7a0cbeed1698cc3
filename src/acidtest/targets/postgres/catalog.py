"""PostgreSQL's catalogue as a `Schema`: three queries that go in one message."""

from acidtest.model import Column, Index, Row, Rows, Schema, Table

# A partition or an inheriting table shows its rows in its parent, so it is not counted a second time.
OURS = """n.nspname = 'public' AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = c.oid)"""

TABLES = f"""
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {OURS}
ORDER BY c.relname"""

# A type's default collation is left out; attgenerated came with 12 and attidentity with 10, hence to_jsonb.
COLUMNS = f"""
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid),
       coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '',
       coalesce(to_jsonb(a) ->> 'attidentity', '') <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%',
       CASE WHEN a.attcollation <> t.typcollation
            THEN (SELECT collname FROM pg_collation o WHERE o.oid = a.attcollation) END
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {OURS}
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum"""

INDEXES = f"""
SELECT c.relname, i.relname, x.indisunique, x.indisprimary,
       pg_get_indexdef(x.indexrelid, k.position, true)
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL generate_series(1, x.indnatts::int) k(position)
WHERE {OURS}
ORDER BY c.relname, i.relname, k.position"""

QUESTION = ";".join((TABLES, COLUMNS, INDEXES))

# plpgsql is in every database; a case may have made schemas of its own besides.
EMPTY = """
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
END $$;
CREATE SCHEMA public"""

NEEDS_TRUNCATE = """
SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'public' AND c.relkind = 'S')
    OR EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f')
    OR EXISTS (SELECT 1 FROM pg_trigger WHERE NOT tgisinternal)"""
"""Whether deleting rows table by table would not do: there are sequences, foreign keys or triggers."""


def read_schema(tables: Rows, columns: Rows, indexes: Rows) -> Schema:
    """The schema from the three answers."""
    return Schema(
        tuple(
            Table(
                str(name),
                tuple(_column(row) for row in columns.rows if row[0] == name),
                _indexes([row for row in indexes.rows if row[0] == name]),
            )
            for (name,) in tables.rows
        )
    )


def _column(row: Row) -> Column:
    _, name, type_, nullable, default, generated, counts, collation = row
    return Column(
        name=str(name),
        type=str(type_),
        nullable=bool(nullable),
        default=None if default is None else str(default),
        generated=bool(generated),
        auto_increment=bool(counts),
        collation=None if collation is None else str(collation),
    )


def _indexes(rows: list[Row]) -> tuple[Index, ...]:
    parts: dict[tuple[str, bool, bool], list[str]] = {}
    for _, name, unique, primary, expression in rows:
        parts.setdefault((str(name), bool(unique), bool(primary)), []).append(str(expression))
    return tuple(Index(name, tuple(cols), unique, primary) for (name, unique, primary), cols in parts.items())
