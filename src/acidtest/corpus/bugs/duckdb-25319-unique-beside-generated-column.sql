-- id: DUCKDB-25319
-- title: the old value of a UNIQUE column beside a generated column cannot be used again
-- link: https://github.com/duckdb/duckdb/issues/25319
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
-- The UPDATE frees the value 10, and the INSERT of the same transaction is told that it is taken. Without the generated
-- column it works.
-- setup
CREATE TABLE t (g INT AS (y + 1), y INT UNIQUE);
INSERT INTO t (y) VALUES (10), (20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET y = 30 WHERE y = 10;  -- expect: affected 1
/* tx1 */ INSERT INTO t (y) VALUES (10);     -- expect: affected 1
/* tx1 */ COMMIT;
-- final
-- expect t: (11,10) (21,20) (31,30)
