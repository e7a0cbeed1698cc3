-- id: ACIDTEST-1
-- title: a locking read over a secondary index finds a row newer than the snapshot instead of error 1020
-- link: https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation
-- target: mariadb >=11.6.2
-- level: REPEATABLE READ
-- seen: mariadb@11.8.6 RR
-- With innodb_snapshot_isolation=ON (the default from 11.6.2 on) a locking read that meets a row which is newer
-- than its snapshot fails with error 1020. Without the index it does. Where the index has all columns, the
-- shared lock stands on the index alone, and the row is returned; a plain read then does not show it.
-- Found by acidtest fuzz on MariaDB 11.8.6. See also MDEV-40092, a missing error over a secondary index.
-- setup
CREATE TABLE t (a INT);
CREATE INDEX i ON t (a);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;                       -- expect: (0)
/* tx2 */ INSERT INTO t VALUES (1);              -- expect: affected 1
-- expect SER: ok; blocked
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;    -- expect: (0) (1)
-- expect RR: error record-changed
-- expect SER: (0)
/* tx1 */ COMMIT;
