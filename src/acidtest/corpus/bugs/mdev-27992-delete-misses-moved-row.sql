-- id: MDEV-27992
-- title: a delete that waited misses the row whose primary key moved meanwhile
-- link: https://jira.mariadb.org/browse/MDEV-27992
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: READ COMMITTED
-- seen: mariadb@10.5.23 RU, RC
-- seen: mariadb@10.11.19 RU, RC
-- seen: mariadb@11.8.6 RU, RC
-- seen: mysql@5.6.24 RU, RC
-- seen: mysql@9.7.4 RU, RC
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx2 deletes all rows and has to wait for tx1, which moves the only row's key down twice. After tx1's
-- COMMIT the delete resumes behind the row's new place, removes nothing, and the row survives.
-- With gap locks the second update may end in a deadlock, and the row then rightly stays.
-- Reported at READ COMMITTED and SERIALIZABLE (Troc, listing 3, for MariaDB 10.5.12).
-- setup
CREATE TABLE t (c1 INT PRIMARY KEY);
INSERT INTO t (c1) VALUES (8);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 5;
/* tx2 */ DELETE FROM t;                     -- expect: affected 1; blocked
-- expect RR, SER: affected 1; blocked or error deadlock or error record-changed
/* tx1 */ UPDATE t SET c1 = 3;               -- expect: affected 1
-- expect RR, SER: affected 1 or error deadlock
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t FOR UPDATE;        -- expect: no rows
-- expect RR, SER: no rows or (3)
/* tx2 */ COMMIT;
-- final
-- expect t: no rows
-- expect t at RR, SER: no rows or (3)
