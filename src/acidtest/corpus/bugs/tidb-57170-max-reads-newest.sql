-- id: TIDB-57170
-- title: MAX and descending scans see rows newer than the snapshot
-- link: https://github.com/pingcap/tidb/issues/57170
-- target: tidb
-- level: REPEATABLE READ
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic RR
-- tx2 commits a row after tx1's snapshot. tx1 does not see it, but its MAX does, which reads the table from its end.
-- A bug of the store that is embedded in TiDB (unistore), as reported.
-- Found by acidtest fuzz on TiDB 5.4.2.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;             -- expect: (1)
/* tx2 */ INSERT INTO t VALUES (2);    -- expect: affected 1
/* tx1 */ SELECT * FROM t;             -- expect: (1)
-- expect RC: (1) (2)
/* tx1 */ SELECT MAX(a) FROM t;        -- expect: (1)
-- expect RC: (2)
/* tx1 */ COMMIT;
-- final
-- expect t: (1) (2)
