-- id: ACIDTEST-6
-- title: an update to NULL does not conflict with an update of the same column to a value, which is lost
-- link: https://duckdb.org/docs/stable/connect/concurrency
-- target: duckdb
-- level: SNAPSHOT
-- seen: duckdb@1.4.3 SI
-- seen: duckdb@2.0.0 SI
-- DuckDB documents that the second of two transactions that edit the same row fails with a conflict. It does if both
-- set a value. If the first sets a value and the second sets the column to NULL, both commit, and the column is NULL,
-- whoever commits last. The other way round the second fails. DuckDB keeps what is NULL apart from the values.
-- Found by acidtest fuzz on DuckDB 2.0.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ UPDATE t SET a = NULL;     -- expect: error write-conflict
/* tx1 */ COMMIT;
-- final
-- expect t: (1)
