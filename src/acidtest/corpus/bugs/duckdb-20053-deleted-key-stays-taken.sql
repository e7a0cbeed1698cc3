-- id: DUCKDB-20053
-- title: a deleted key cannot be inserted again while an older transaction is open
-- link: https://github.com/duckdb/duckdb/issues/20053
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 1.4
-- fixed: 1.5.0
-- levels: SI
-- seen: duckdb@0.10.3 no level
-- seen: duckdb@1.1.3 no level
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- tx2 deletes a key and inserts it again, each by itself. While tx1 still reads an older snapshot, the index keeps
-- the deleted key for it, and the INSERT takes that for a duplicate.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT COUNT(*) FROM t;      -- expect: (3)
/* tx2 */ DELETE FROM t WHERE a = 2;   -- expect: affected 1
/* tx2 */ INSERT INTO t VALUES (2);    -- expect: affected 1
/* tx1 */ COMMIT;
-- final
-- expect t: (1) (2) (3)
