-- id: MYSQL-114389
-- title: a transaction still finds the value that its own update replaced, under the row's old key
-- link: https://bugs.mysql.com/bug.php?id=114389
-- target: mysql
-- target: mariadb
-- target: tidb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 RR
-- seen: mariadb@10.11.19 RR
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 RR
-- seen: mysql@9.7.4 RR
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx3 takes its snapshot, tx1 moves the row to another primary key and commits, tx3 updates every row to
-- c = 999 and still finds one with c = 333: the row's old version under its old key. See also MDEV-32898.
-- Reported at REPEATABLE READ (thesis, figure 4.8, for MySQL 8.0.12 to 9.1). The figure leaves out the
-- table; columns and row are completed after the report. Column a is also read, to
-- tell the row's two places apart.
-- setup
CREATE TABLE t (pkId INT, a INT PRIMARY KEY, b INT, c INT);
INSERT INTO t VALUES (8, 44, 1, 2);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 222, c = 333;
/* tx2 */ COMMIT;
/* tx3 */ BEGIN;
/* tx3 */ SELECT pkId, a, b, c FROM t;            -- expect: (8,44,222,333)
/* tx1 */ UPDATE t SET a = 40 WHERE a = 44;       -- expect: affected 1
-- expect SER: ok or error deadlock or error record-changed
/* tx1 */ COMMIT;
/* tx3 */ UPDATE t SET b = 888, c = 999;          -- expect: affected 1
-- expect RR, SER: affected 1 or error record-changed or error deadlock
/* tx3 */ SELECT pkId, a, b, c FROM t
          WHERE b = 854 OR c = 333 ORDER BY b;    -- expect: no rows
-- expect RR, SER: no rows or (8,40,222,333)
/* tx3 */ COMMIT;
