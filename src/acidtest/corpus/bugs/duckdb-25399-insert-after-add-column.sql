-- id: DUCKDB-25399
-- title: DELETE, ALTER TABLE ADD COLUMN and INSERT of the key fails in one transaction
-- link: https://github.com/duckdb/duckdb/issues/25399
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 1.5
-- fixed: 2.0.0
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 SI
-- seen: duckdb@1.5.6 SI
-- seen: duckdb@2.0.0 no level
-- After ADD COLUMN the transaction works on a new version of the table, which does not know that its key was deleted
-- before.
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE a = 1;                  -- expect: affected 1
/* tx1 */ ALTER TABLE t ADD COLUMN c INT DEFAULT 0;   -- expect: ok
/* tx1 */ INSERT INTO t VALUES (1, 30, 0);            -- expect: affected 1
/* tx1 */ COMMIT;
-- final
-- expect t: (1,30,0) (2,20,0)
