-- id: DUCKDB-17223
-- title: a delete does not conflict with another transaction's update of the row
-- link: https://github.com/duckdb/duckdb/issues/17223
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
-- tx2 deletes the row that tx1 has updated and not committed. Two updates of it, or two deletes, would conflict;
-- this pair does not: both transactions commit, and tx1's update is lost.
-- Found by acidtest fuzz on DuckDB 2.0.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ DELETE FROM t;          -- expect: error write-conflict
/* tx1 */ COMMIT;
-- final
-- expect t: (1)
