-- id: DUCKDB-1631
-- title: DELETE and INSERT of the same key in one transaction is a duplicate
-- link: https://github.com/duckdb/duckdb/issues/1631
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 0.2.5
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
-- The index removes the key only when the transaction commits, so the INSERT meets the key that its own
-- transaction has deleted.
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 1;    -- expect: affected 1
/* tx1 */ INSERT INTO t VALUES (1, 2);  -- expect: affected 1
/* tx1 */ COMMIT;
-- final
-- expect t: (1,2)
