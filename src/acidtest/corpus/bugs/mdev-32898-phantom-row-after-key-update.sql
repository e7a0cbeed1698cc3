-- id: MDEV-32898
-- title: a row shows twice in a snapshot after its primary key was changed
-- link: https://jira.mariadb.org/browse/MDEV-32898
-- link: https://bugs.mysql.com/bug.php?id=113228
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 RR
-- seen: mariadb@10.11.19 RR
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 RR
-- seen: mysql@9.7.4 RR
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx1 moves row 2 to key 3 and commits; tx2 updates all rows and then reads the moved row both as it was
-- in its snapshot and as it wrote it. Three rows are seen where there never were more than two.
-- Reported at REPEATABLE READ (Fucci, code snippet 1, for MySQL 8.0 and 8.2, MariaDB 10.4 to 11.2). A server
-- with innodb_snapshot_isolation=ON refuses tx2's update instead (error 1020).
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
INSERT INTO t VALUES (2, 2);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;                  -- expect: (1,1) (2,2)
/* tx1 */ UPDATE t SET a = 3 WHERE b = 2;   -- expect: affected 1
-- expect SER: ok or error deadlock or error record-changed
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET b = 3;               -- expect: affected 2
-- expect RR, SER: affected 2 or error deadlock or error record-changed
/* tx2 */ SELECT * FROM t;                  -- expect: (1,3) (3,3)
-- expect RR: (1,3) (3,3) or (1,1) (3,2)
-- expect SER: (1,3) (3,3) or (1,3) (2,3) or (1,1) (3,2)
/* tx2 */ COMMIT;
-- final
-- expect t: (1,3) (3,3)
-- expect t at RR: (1,3) (3,3) or (1,1) (3,2)
-- expect t at SER: (1,3) (3,3) or (1,3) (2,3) or (1,1) (3,2)
