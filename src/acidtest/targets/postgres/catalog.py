"""PostgreSQL's catalogue as a `Schema`: one question, whose answer has a row for each part of it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from acidtest.model import Action, Check, Column, ForeignKey, Index, Rows, Schema, Table
from acidtest.targets.sqltext import quote

# A partition or an inheriting table shows its rows in its parent, so it is not counted a second time. What
# is put on it acts on the rows of the parent, though: `family` says whose they are.
FAMILY = """
WITH RECURSIVE family AS (
  SELECT c.oid AS root, c.relname AS name, c.oid AS member,
         c.relkind AS kind, c.relhassubclass AS has_children
  FROM pg_class c
  WHERE c.relnamespace = to_regnamespace('public') AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = c.oid)
  UNION
  SELECT f.root, f.name, i.inhrelid, f.kind, f.has_children
  FROM family f JOIN pg_inherits i ON i.inhparent = f.member)"""

TABLES = "SELECT 'table' AS part, name, 0 AS position, NULL::json AS cells FROM family WHERE member = root"

CHILDREN = """
SELECT 'child', f.name, 0, json_build_array(c.relname)
FROM family f JOIN pg_class c ON c.oid = f.member WHERE f.member <> f.root"""

# A type's default collation is left out.
COLUMNS = """
SELECT 'column', f.name, a.attnum,
       json_build_array(a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid), {generated}, {identity},
       CASE WHEN a.attcollation <> t.typcollation
            THEN (SELECT collname FROM pg_collation o WHERE o.oid = a.attcollation) END)
FROM family f
JOIN pg_attribute a ON a.attrelid = f.root
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE f.member = f.root AND a.attnum > 0 AND NOT a.attisdropped"""

# The collation of a key is told where it is not its column's.
INDEXES = """
SELECT 'index', f.name, k.position,
       json_build_array(i.relname, x.indisunique, x.indisprimary, NOT x.indimmediate, {nulls_distinct},
       pg_get_expr(x.indpred, x.indrelid, true), k.position <= {keys},
       (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = f.root AND a.attnum = k.number),
       CASE WHEN k.number = 0 THEN pg_get_indexdef(x.indexrelid, k.position::int, true) END,
       (SELECT o.collname FROM pg_collation o WHERE o.oid = x.indcollation[k.position - 1] AND o.oid <>
        (SELECT a.attcollation FROM pg_attribute a WHERE a.attrelid = f.root AND a.attnum = k.number)))
FROM family f
JOIN pg_index x ON x.indrelid = f.root
JOIN pg_class i ON i.oid = x.indexrelid
CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY k(number, position)
WHERE f.member = f.root"""

FOREIGN_KEYS = """
SELECT 'key', f.name, 0,
       json_build_array(k.conname, (SELECT relname FROM pg_class r WHERE r.oid = k.confrelid),
       k.conkey, k.confkey, k.confdeltype, k.confupdtype, k.condeferrable)
FROM family f JOIN pg_constraint k ON k.conrelid = f.root
WHERE f.member = f.root AND k.contype = 'f' {enforced}"""

# An exclusion constraint is told in words that are no expression.
CHECKS = """
SELECT 'check', f.name, 0, json_build_array(k.conname,
       CASE k.contype WHEN 'c' THEN pg_get_expr(k.conbin, k.conrelid) ELSE pg_get_constraintdef(k.oid) END)
FROM family f JOIN pg_constraint k ON k.conrelid = f.root
WHERE f.member = f.root AND k.contype IN ('c', 'x') {enforced}"""

# What makes statements on a table do more, or allow less, than the rest of its description says: triggers,
# rules, policies; a foreign key with MATCH FULL or that sets only some of its columns to NULL; and what
# holds for the rows of one member of the family alone.
TRIGGERS = """
SELECT 'trigger', name, 0, json_build_array(does)
FROM (
  SELECT f.name, g.tgname AS does FROM family f JOIN pg_trigger g ON g.tgrelid = f.member
  WHERE NOT g.tgisinternal
  UNION ALL
  SELECT f.name, r.rulename FROM family f JOIN pg_rewrite r ON r.ev_class = f.member
  UNION ALL
  SELECT f.name, p.polname FROM family f JOIN pg_policy p ON p.polrelid = f.member
  UNION ALL
  SELECT f.name, k.conname FROM family f JOIN pg_constraint k ON k.conrelid = f.member
  WHERE ({special} OR f.member <> f.root AND k.contype IN ('c', 'x', 'f') AND k.coninhcount = 0) {enforced}
  UNION ALL
  SELECT f.name, x.relname FROM family f
  JOIN pg_index i ON i.indrelid = f.member AND i.indisunique
  JOIN pg_class x ON x.oid = i.indexrelid
  WHERE f.has_children
    AND CASE WHEN f.member = f.root THEN f.kind = 'r'
             ELSE NOT EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhrelid = i.indexrelid) END
  UNION ALL
  SELECT f.name, a.attname FROM family f
  JOIN pg_attrdef d ON d.adrelid = f.member
  JOIN pg_attribute a ON a.attrelid = f.member AND a.attnum = d.adnum
  LEFT JOIN pg_attribute b ON b.attrelid = f.root AND b.attname = a.attname
  LEFT JOIN pg_attrdef e ON e.adrelid = f.root AND e.adnum = b.attnum
  WHERE f.member <> f.root
    AND pg_get_expr(d.adbin, d.adrelid) IS DISTINCT FROM pg_get_expr(e.adbin, e.adrelid)) AS more"""

VIEWS = """
SELECT 'view', relname, 0, NULL FROM pg_class
WHERE relnamespace = to_regnamespace('public') AND relkind IN ('v', 'm')"""

# Through pg_depend, because pg_proc is long and has no index by schema.
FUNCTIONS = """
SELECT 'function', p.proname, 0, NULL
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = to_regnamespace('public')
  AND d.classid = 'pg_proc'::regclass
  AND NOT EXISTS (SELECT 1 FROM pg_depend e
                  WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')"""

PARTS = (TABLES, CHILDREN, COLUMNS, INDEXES, FOREIGN_KEYS, CHECKS, TRIGGERS, VIEWS, FUNCTIONS)

ACTIONS = {
    "a": Action.NO_ACTION,
    "r": Action.RESTRICT,
    "c": Action.CASCADE,
    "n": Action.SET_NULL,
    "d": Action.SET_DEFAULT,
}


@lru_cache
def question(version: int) -> str:
    """All that a schema is made of, in words that this version understands."""
    identity = "coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false)"
    special = "k.confmatchtype = 'f'"
    # A key that refers to a partitioned table has a row of its own for each partition.
    enforced = "AND k.conparentid = 0" if version >= 110000 else ""
    if version >= 180000:
        enforced += " AND k.conenforced"
    parts = " UNION ALL ".join(PARTS).format(
        generated="a.attgenerated <> ''" if version >= 120000 else "false",
        identity=f"a.attidentity <> '' OR {identity}" if version >= 100000 else identity,
        keys="x.indnkeyatts" if version >= 110000 else "x.indnatts",
        nulls_distinct="NOT x.indnullsnotdistinct" if version >= 150000 else "true",
        special=f"{special} OR k.confdelsetcols IS NOT NULL" if version >= 150000 else special,
        enforced=enforced,
    )
    return f"{FAMILY} {parts}"


# plpgsql is in every database; a case may have made schemas of its own besides.
_EMPTY = """
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
END $$;
CREATE SCHEMA public;
GRANT {} ON SCHEMA public TO PUBLIC"""


def emptying(version: int) -> str:
    """Drop all schemas, and make `public` as a new database has it."""
    return _EMPTY.format("USAGE" if version >= 150000 else "ALL")


NEEDS_TRUNCATE = """
SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'public' AND c.relkind = 'S')
    OR EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f')
    OR EXISTS (SELECT 1 FROM pg_trigger WHERE NOT tgisinternal)"""
"""Whether deleting rows table by table would not do: there are sequences, foreign keys or triggers."""

_Cells = Sequence[Any]
_Named = TypeVar("_Named", Index, ForeignKey, Check)
_Parts = dict[tuple[str, str], dict[int, list[_Cells]]]
"""By kind of part and name of the table; then by position in it."""


def read_schema(answer: Rows) -> Schema:
    """The schema from the answer to the question."""
    parts: _Parts = {}
    for part, name, position, cells in sorted(answer.rows, key=lambda row: (str(row[1]), int(str(row[2])))):
        own = parts.setdefault((str(part), str(name)), {}).setdefault(int(str(position)), [])
        own.append(json.loads(str(cells)) if cells else ())
    return Schema(
        tables=tuple(_table(name, parts) for part, name in parts if part == "table"),
        views=tuple(name for part, name in parts if part == "view"),
        functions=tuple(name for part, name in parts if part == "function"),
        folds_names="lower",
    )


def _table(name: str, parts: _Parts) -> Table:
    def of(part: str) -> list[_Cells]:
        return [cells for at_position in parts.get((part, name), {}).values() for cells in at_position]

    return Table(
        name=name,
        columns=tuple(map(_column, of("column"))),
        indexes=_by_name(_indexes(of("index"))),
        foreign_keys=_by_name(_foreign_key(name, cells, parts) for cells in of("key")),
        checks=_by_name(Check(*cells) for cells in of("check")),
        triggers=tuple(sorted({trigger for (trigger,) in of("trigger")})),
        children=tuple(sorted(child for (child,) in of("child"))),
    )


def _by_name(parts: Iterable[_Named]) -> tuple[_Named, ...]:
    return tuple(sorted(parts, key=lambda part: part.name))


def _column(cells: _Cells) -> Column:
    name, type_, nullable, expression, generated, counts, collation = cells
    return Column(
        name=name,
        type=type_,
        nullable=nullable,
        default=None if generated else expression,
        generated=generated,
        auto_increment=counts,
        collation=collation,
        expression=expression if generated else None,
    )


def _indexes(rows: Iterable[_Cells]) -> Iterator[Index]:
    parts: dict[tuple[Any, ...], list[tuple[bool, str]]] = {}
    for *index, is_key, column, expression, collation in rows:
        text = expression if column is None else column
        if collation is not None:
            text = f"{quote(text)} COLLATE {quote(collation)}"
        parts.setdefault(tuple(index), []).append((is_key, text))
    for (name, unique, primary, deferrable, nulls_distinct, where), columns in parts.items():
        yield Index(
            name=name,
            columns=tuple(text for is_key, text in columns if is_key),
            unique=unique,
            primary=primary,
            where=where,
            nulls_distinct=nulls_distinct,
            deferrable=deferrable,
            included=tuple(text for is_key, text in columns if not is_key),
        )


def _foreign_key(owner: str, cells: _Cells, parts: _Parts) -> ForeignKey:
    name, table, columns, references, on_delete, on_update, deferrable = cells

    def named(of: str, number: int) -> str:
        own = parts.get(("column", of), {})  # a table outside of the case tells no columns
        return str(own[number][0][0]) if number in own else str(number)

    return ForeignKey(
        name=name,
        columns=tuple(named(owner, number) for number in columns),
        table=table,
        references=tuple(named(table, number) for number in references),
        on_delete=ACTIONS[on_delete],
        on_update=ACTIONS[on_update],
        deferrable=deferrable,
    )
