-- id: MDEV-26642
-- title: a transaction does not see its own update of a row that another had set to the same value
-- link: https://jira.mariadb.org/browse/MDEV-26642
-- link: https://github.com/pingcap/tidb/issues/28212
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 RR
-- seen: mariadb@10.11.19 RR
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- seen: tidb@5.4.2 RR
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx1 sets every row to 10 and still reads the old value of the row that tx2 had set to 10 meanwhile.
-- InnoDB and TiDB skip the write because it changes nothing, so the row stays the other transaction's.
-- MySQL 8.0.12 does so with its binary log on, and not with --skip-log-bin.
-- Reported at REPEATABLE READ (Troc, listing 2, for MariaDB 5.5 to 10.7 and every TiDB). A server with
-- innodb_snapshot_isolation=ON refuses tx1's update instead (error 1020), which is right as well.
-- setup
CREATE TABLE t (c1 INT, c2 INT);
INSERT INTO t VALUES (0, 0), (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;                       -- expect: (0,0) (1,1)
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c1 = 10 WHERE c2 = 1;     -- expect: affected 1
-- expect SER: ok or error deadlock or error record-changed
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;                       -- expect: (0,0) (1,1)
-- expect RU, RC: (0,0) (10,1)
/* tx1 */ UPDATE t SET c1 = 10 WHERE TRUE;       -- expect: ok
-- expect RR: ok or error record-changed
-- expect SER: ok or error deadlock or error record-changed
/* tx1 */ SELECT * FROM t;                       -- expect: (10,0) (10,1)
-- expect RR, SER: (10,0) (10,1) or (0,0) (10,1)
/* tx1 */ COMMIT;
-- final
-- expect t: (10,0) (10,1)
-- expect t at RR, SER: (10,0) (10,1) or (0,0) (10,1)
