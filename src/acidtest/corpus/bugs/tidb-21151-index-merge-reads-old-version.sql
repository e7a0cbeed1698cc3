-- id: TIDB-21151
-- title: a read by index merge misses what was committed before it at READ COMMITTED
-- link: https://github.com/pingcap/tidb/issues/21151
-- target: tidb
-- level: READ COMMITTED
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- The same question, asked with and without an index merge, gives different versions of the row: the
-- merging reader did not fetch a new read timestamp. Reported at READ COMMITTED (thesis, figure 4.11, for
-- TiDB 4.0.8; fixed in November 2020); table and rows after the report.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT, a INT NOT NULL, b INT NOT NULL, INDEX ia (a), INDEX ib (b));
INSERT INTO t VALUES (1, 10, 2, 0), (2, 10, 4, 4), (3, 10, 0, 2), (4, 10, 0, 0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT /*+ USE_INDEX_MERGE(t, ia, ib) */ * FROM t WHERE a > 3 OR b > 3;    -- expect: (2,10,4,4)
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET value = 11 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT /*+ NO_INDEX_MERGE() */ * FROM t WHERE a > 3 OR b > 3;              -- expect: (2,11,4,4)
-- expect RR: (2,10,4,4)
/* tx1 */ SELECT /*+ USE_INDEX_MERGE(t, ia, ib) */ * FROM t WHERE a > 3 OR b > 3;    -- expect: (2,11,4,4)
-- expect RR: (2,10,4,4)
/* tx1 */ COMMIT;
