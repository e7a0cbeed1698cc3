-- id: ACIDTEST-5
-- title: an update over a secondary index does not notice that a row of its snapshot is gone, no error 1020
-- link: https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation
-- target: mariadb >=11.6.2
-- level: REPEATABLE READ
-- seen: mariadb@11.8.6 RR
-- With innodb_snapshot_isolation=ON (the default from 11.6.2 on) REPEATABLE READ is to be snapshot isolation: a
-- statement that comes to lock a row which another transaction has changed since the snapshot fails with error
-- 1020. Without the index it does. By way of the index the UPDATE passes the deleted row by and reports 0 rows,
-- though the transaction has read the row and still does (read skew). Locking reads and DELETE do the same, and
-- so they do if the row got another key in the index. Found by acidtest fuzz on MariaDB 11.8.6.
-- setup
CREATE TABLE t (a INT);
CREATE INDEX i ON t (a);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;                       -- expect: (0)
/* tx2 */ DELETE FROM t;
/* tx1 */ UPDATE t SET a = 1 WHERE a = 0;        -- expect: affected 0
-- expect RR: error record-changed
-- expect SER: affected 1
/* tx1 */ COMMIT;
