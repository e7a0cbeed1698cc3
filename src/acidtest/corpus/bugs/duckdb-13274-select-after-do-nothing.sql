-- id: DUCKDB-13274
-- title: SELECT after INSERT .. ON CONFLICT DO NOTHING fails in the transaction
-- link: https://github.com/duckdb/duckdb/issues/13274
-- target: duckdb
-- status: confirmed
-- kind: crash
-- reported: 1.0.0
-- fixed: 1.1
-- levels: SI
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 no level
-- seen: duckdb@1.2.0 no level
-- seen: duckdb@1.3.2 no level
-- seen: duckdb@1.4.3 no level
-- seen: duckdb@1.5.0 no level
-- seen: duckdb@1.5.6 no level
-- seen: duckdb@2.0.0 no level
-- The INSERT did nothing, but it left an empty row group in the transaction, on which the SELECT trips with an internal
-- error.
-- setup
CREATE TABLE t (a SMALLINT PRIMARY KEY, b SMALLINT UNIQUE);
INSERT INTO t VALUES (1, 2);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING;  -- expect: affected 0
/* tx1 */ SELECT * FROM t WHERE a = 1;                         -- expect: (1,2)
/* tx1 */ COMMIT;
-- final
-- expect t: (1,2)
