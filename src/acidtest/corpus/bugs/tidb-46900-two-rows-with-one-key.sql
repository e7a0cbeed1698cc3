-- id: TIDB-46900
-- title: a transaction sees two rows with one primary key
-- link: https://github.com/pingcap/tidb/issues/46900
-- target: tidb
-- level: REPEATABLE READ
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx2 deletes a row after tx1's snapshot; tx1 then inserts its key anew. The table is not kept by its primary key, so
-- the snapshot still shows the deleted row beside the new one, and tx1 commits.
-- As reported; also pull request 44188. Found by acidtest fuzz on TiDB 5.4.2.
-- setup
CREATE TABLE t (a INT, b INT, PRIMARY KEY (a) NONCLUSTERED);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ DELETE FROM t;                  -- expect: affected 1
/* tx1 */ INSERT INTO t VALUES (1, 11);   -- expect: affected 1
/* tx1 */ SELECT b FROM t;                -- expect: (11)
/* tx1 */ COMMIT;                         -- expect: ok or error write-conflict or error duplicate-key
-- final
-- expect t: (1,11) or no rows
