-- id: TIDB-25176
-- title: with tidb_snapshot set, a locking read changes what the transaction's plain reads see
-- link: https://github.com/pingcap/tidb/issues/25176
-- target: tidb
-- level: REPEATABLE READ
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- Two equal reads of tx1 differ because a SELECT ... FOR UPDATE stands between them. The wait of the report
-- (the variable must name a moment after tx2's update) is a second of SLEEP in the server.
-- Reported at REPEATABLE READ (thesis, figure 4.13, for TiDB 4.0.7). Later versions refuse FOR UPDATE here.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, a INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET a = 2 WHERE id = 1;
/* tx1 */ DO SLEEP(1);
/* tx1 */ SET @@tidb_snapshot = TIMESTAMP(NOW());
/* tx1 */ SELECT a FROM t WHERE id = 1;                 -- expect: (1)
-- expect RC: (2)
/* tx1 */ SELECT a FROM t WHERE id = 1 FOR UPDATE;      -- expect: (2) or error
/* tx1 */ SELECT a FROM t WHERE id = 1;                 -- expect: (1)
-- expect RC: (2)
/* tx1 */ SET @@tidb_snapshot = '';
/* tx1 */ COMMIT;
