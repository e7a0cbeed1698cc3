-- id: DUCKDB-17802
-- title: COMMIT of an update that changes no key fails while an older reader is open
-- link: https://github.com/duckdb/duckdb/issues/17802
-- target: duckdb
-- status: confirmed
-- kind: wrong error
-- reported: 1.3.0
-- fixed: 1.5.0
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- tx2 and then tx3 set a key to the value that it has. Nobody else writes, but while tx1 reads an older snapshot
-- the index of tx3 meets the version that tx2 replaced. Before 1.2 the UPDATE of tx3 fails already.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t;                 -- expect: (1)
/* tx2 */ UPDATE t SET a = 1 WHERE a = 1;  -- expect: affected 1
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET a = 1 WHERE a = 1;  -- expect: affected 1
/* tx3 */ COMMIT;                          -- expect: ok
/* tx1 */ COMMIT;
-- final
-- expect t: (1)
