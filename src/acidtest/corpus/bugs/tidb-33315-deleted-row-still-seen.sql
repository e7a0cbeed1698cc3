-- id: TIDB-33315
-- title: a transaction still sees the row it deleted after waiting for its key to move
-- link: https://github.com/pingcap/tidb/issues/33315
-- target: tidb
-- target: mysql
-- target: mariadb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 no level
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx2 deletes all rows, waits for tx1, which changes the row's primary key, and deletes the row in its new
-- place; its next read still shows the row in the old one, out of the snapshot.
-- Reported at REPEATABLE READ (thesis, figure 4.14, for TiDB 5.4.0); table and row after the report. TiDB 6.1
-- and older with an embedded store need tidb_txn_mode=pessimistic for the wait.
-- setup
CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
INSERT INTO t VALUES (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 2, c2 = 2;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t;             -- expect: affected 1; blocked
-- expect SER: affected 1; blocked or error record-changed; blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;           -- expect: no rows
-- expect SER: no rows or (2,2)
/* tx2 */ COMMIT;
-- final
-- expect t: no rows
-- expect t at SER: no rows or (2,2)
