-- id: MDEV-39874
-- title: an update at READ UNCOMMITTED passes by a row that another has deleted and not committed
-- link: https://jira.mariadb.org/browse/MDEV-39874
-- target: mariadb
-- level: READ UNCOMMITTED
-- seen: mariadb@10.5.23 no level
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 RU
-- With innodb_snapshot_isolation=ON (the default from 11.6.2 on) tx2's update neither waits for tx1 nor finds the
-- row, which is there again after tx1 rolls back. At every other level, and with the variable OFF, it waits.
-- Reported at READ UNCOMMITTED with an index and a deadlock; these steps were found by acidtest fuzz on 11.8.6.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx2 */ UPDATE t SET a = 1;     -- expect: affected 1; blocked
-- expect RR, SER: affected 1; blocked or error record-changed; blocked
/* tx1 */ ROLLBACK;
-- final
-- expect t: (1)
-- expect t at RR, SER: (1) or (0)
