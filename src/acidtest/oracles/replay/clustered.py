"""The index that rows are kept by.

InnoDB: https://dev.mysql.com/doc/refman/8.4/en/innodb-index-types.html. TiDB tells which one it is; a primary
key may be a unique index like others there: https://docs.pingcap.com/tidb/stable/clustered-indexes
"""

from sqlglot import exp

from acidtest.claims import Claim
from acidtest.model import Index, Row, Table
from acidtest.oracles.chains import Version
from acidtest.sql.shape import Shape, Verb


def identity_index(claim: Claim, table: Table) -> Index | None:
    """The index whose key is what a row is, if there is one."""
    if not claim.rows_are_keys:
        return None
    return clustered_index(table) if claim.keys_repeat_unless_clustered else primary_index(table)


def clustered_index(table: Table) -> Index | None:
    """The index that rows are kept by, as told; else the primary key, or the one unique index without NULLs;
    None if the server makes up numbers of its own, or chooses among several."""
    if any(index.clustered is not None for index in table.indexes):
        return next((index for index in table.indexes if index.clustered), None)
    return primary_index(table)


def primary_index(table: Table) -> Index | None:
    """The primary key, or what takes its place."""
    nullable = {column.name for column in table.columns if column.nullable}
    primary = [index for index in table.indexes if index.primary]
    unique = [index for index in table.indexes if index.unique and not nullable & set(index.columns)]
    return next(iter(primary or (unique if len(unique) == 1 else [])), None)


def key_of(table: Table, values: Row) -> Row | None:
    """What a row is kept by, or None."""
    index = clustered_index(table)
    return None if index is None else key_in(table, index, values)


def key_in(table: Table, index: Index, values: Row) -> Row:
    """The key of a row in an index; parts that are no columns are left out."""
    names = [column.name for column in table.columns]
    return tuple(values[names.index(name)] for name in index.columns if name in names)


def is_covered(table: Table, shape: Shape) -> bool:
    """Whether a secondary index has all columns that a statement names."""
    clustered = clustered_index(table)
    return any(_covers(table, index, shape) for index in table.indexes if index is not clustered)


def _covers(table: Table, index: Index, shape: Shape) -> bool:
    """Whether a secondary index has all columns that a statement names; it also has those of the key."""
    if shape.tree.find(exp.Star) is not None:
        named = {column.name.lower() for column in table.columns}
    else:
        named = {column.name.lower() for column in shape.tree.find_all(exp.Column)}
    clustered = clustered_index(table)
    key = clustered.columns if clustered is not None else ()
    return named <= {name.lower() for name in (*key, *index.columns)}


def leaves_an_index(table: Table, shape: Shape, old: Row, new: Row | None) -> bool:
    """Whether a row that becomes another has left its place in a secondary index by which a statement may
    look for it."""
    names = [column.name for column in table.columns]
    for index in table.indexes:
        if not all(name in names for name in index.columns) or not _may_be_used(table, index, shape):
            continue
        if new is None or any(old[place] != new[place] for place in map(names.index, index.columns)):
            return True
    return False


def _may_be_used(table: Table, index: Index, shape: Shape) -> bool:
    """Whether a statement may go by a secondary index: its condition names the first column of it, or it is a
    read of nothing else, and the condition does not name the key that rows are kept by."""
    clustered = clustered_index(table)
    if index is clustered:
        return False
    condition = shape.where.find_all(exp.Column) if shape.where is not None else ()
    tested = {column.name.lower() for column in condition}
    if index.columns[0].lower() in tested:
        return True
    by_key = clustered is not None and clustered.columns[0].lower() in tested
    return shape.verb is Verb.READ and not by_key and _covers(table, index, shape)


def sets_indexed(table: Table, shape: Shape) -> bool:
    """Whether an UPDATE or upsert sets a column that some index has."""
    indexed = {name.lower() for index in table.indexes for name in index.columns}
    return any(table.columns[position].name.lower() in indexed for position in assigned(table, shape) or ())


def scan_place(table: Table, shape: Shape, version: Version) -> Row | None:
    """Where a scan of the whole table meets a version: at the key that rows are kept by. None where that is
    not sure: there is no such key, another index may be used, or the keys have no plain order."""
    named = {column.name.lower() for column in shape.tree.find_all(exp.Column)}
    clustered = clustered_index(table)
    for index in table.indexes:
        if index is not clustered and index.columns and index.columns[0].lower() in named:
            return None
    key = None if version.values is None else key_of(table, version.values)
    return key if key is not None and all(type(value) is int for value in key) else None


def assigned(table: Table, shape: Shape) -> frozenset[int] | None:
    """The positions of the columns that a statement sets in rows that are there; None for all of them."""
    conflict = shape.tree.args.get("conflict")
    if shape.verb is Verb.UPDATE:
        items = shape.tree.expressions
    elif conflict is not None:
        items = conflict.expressions
    else:
        return None
    names = {item.this.name.lower() for item in items}
    return frozenset(i for i, column in enumerate(table.columns) if column.name.lower() in names)


def reads_what_it_sets(shape: Shape) -> bool:
    """Whether an UPDATE or upsert reads every column that it sets. An upsert reads the whole row."""
    if shape.verb is not Verb.UPDATE:
        return shape.tree.args.get("conflict") is not None
    values = [item.expression for item in shape.tree.expressions]
    sources = [*values, *filter(None, [shape.tree.args.get("where")])]
    read = {column.name.lower() for source in sources for column in source.find_all(exp.Column)}
    return {item.this.name.lower() for item in shape.tree.expressions} <= read
