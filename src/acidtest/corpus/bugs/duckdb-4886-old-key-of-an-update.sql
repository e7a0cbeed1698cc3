-- id: DUCKDB-4886
-- title: the old key of an UPDATE cannot be used again in the transaction
-- link: https://github.com/duckdb/duckdb/issues/4886
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 0.5.1
-- fixed: 1.2.0
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 no level
-- seen: duckdb@1.3.2 no level
-- seen: duckdb@1.4.3 no level
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- An UPDATE of a key is a DELETE and an INSERT inside DuckDB. The old key stays in the index until COMMIT, so the same
-- transaction cannot insert it.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 4 WHERE a = 1;  -- expect: affected 1
/* tx1 */ INSERT INTO t VALUES (1);        -- expect: affected 1
/* tx1 */ COMMIT;
-- final
-- expect t: (1) (4)
