-- id: DUCKDB-16520
-- title: DELETE of all rows and INSERT of the same rows in one transaction is a duplicate
-- link: https://github.com/duckdb/duckdb/issues/16520
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 1.2.0
-- fixed: 1.2.1
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 no level
-- seen: duckdb@1.4.3 no level
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- A table with a composite key and a second index is emptied and filled again in one transaction. From some number of rows on
-- the keys of the deleted rows are still in the way.
-- setup
CREATE TABLE t (a INT, b INT, c DATE, PRIMARY KEY (b, a));
CREATE INDEX i ON t (c);
INSERT INTO t SELECT i, i % 7, DATE '2020-01-01' + (i % 365)::INT FROM range(300000) r (i);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx1 */ INSERT INTO t SELECT i, i % 7, DATE '2020-01-01' + (i % 365)::INT FROM range(300000) r (i);  -- expect: affected 300000
/* tx1 */ COMMIT;  -- expect: ok
/* tx1 */ SELECT COUNT(*) FROM t;   -- expect: (300000)
/* tx1 */ DELETE FROM t;
