-- id: DUCKDB-21394
-- title: DELETE after UPDATE and CREATE INDEX is a fatal error
-- link: https://github.com/duckdb/duckdb/issues/21394
-- target: duckdb
-- status: confirmed
-- kind: crash
-- reported: 1.5.0
-- fixed: 1.5.1
-- levels: SI
-- seen: duckdb@0.10.3 no level
-- seen: duckdb@1.1.3 no level
-- seen: duckdb@1.2.0 no level
-- seen: duckdb@1.3.2 no level
-- seen: duckdb@1.4.3 no level
-- seen: duckdb@1.5.0 SI
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- The new index does not hold what the UPDATE before it wrote. DuckDB then fails to remove the rows from the index, and the
-- whole database takes no more statements.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (2);
-- schedule
/* tx1 */ UPDATE t SET a = 0;       -- expect: affected 1
/* tx1 */ CREATE INDEX i ON t (a);  -- expect: ok
/* tx1 */ DELETE FROM t;            -- expect: affected 1
-- final
-- expect t: no rows
