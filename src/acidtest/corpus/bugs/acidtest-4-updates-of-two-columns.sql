-- id: ACIDTEST-4
-- title: updates of different columns of one row do not conflict, and both commit
-- link: https://duckdb.org/docs/stable/connect/concurrency
-- target: duckdb
-- level: SNAPSHOT
-- seen: duckdb@0.10.3 SI
-- seen: duckdb@1.1.3 SI
-- seen: duckdb@1.2.0 SI
-- seen: duckdb@1.3.2 SI
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@1.5.0 SI
-- seen: duckdb@1.5.6 SI
-- seen: duckdb@2.0.0 SI
-- DuckDB documents that the second of two transactions that edit the same row fails with a conflict. It does if both
-- set the same column. If they set different ones, both commit, and the row has the columns of both.
-- Found by acidtest fuzz on DuckDB 2.0.
-- setup
CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (0, 0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ UPDATE t SET b = 1;     -- expect: error write-conflict
/* tx1 */ COMMIT;
-- final
-- expect t: (1,0)
