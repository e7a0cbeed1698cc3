-- id: DUCKDB-20570
-- title: UPDATE and DROP of one column in one transaction fail at COMMIT
-- link: https://github.com/duckdb/duckdb/issues/20570
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 1.3.0 to 1.4.3
-- fixed: 2.0.0
-- levels: SI
-- seen: duckdb@0.10.3 no level
-- seen: duckdb@1.1.3 no level
-- seen: duckdb@1.2.0 no level
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 SI
-- seen: duckdb@1.5.6 SI
-- seen: duckdb@2.0.0 no level
-- No other transaction is there, but COMMIT says that another one has altered the table.
-- setup
CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;             -- expect: affected 1
/* tx1 */ ALTER TABLE t DROP COLUMN a;    -- expect: ok
/* tx1 */ COMMIT;                         -- expect: ok
-- final
-- expect t: (1)
