-- id: MDEV-34108
-- title: an update that waited skips a row that the other transaction made match by a second update
-- link: https://jira.mariadb.org/browse/MDEV-34108
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: READ COMMITTED
-- seen: mariadb@10.5.23 RU, RC
-- seen: mariadb@10.11.19 RU, RC
-- seen: mariadb@11.8.6 RU
-- seen: mysql@5.6.24 RU, RC
-- seen: mysql@9.7.4 RU, RC
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx2 waits for tx1, which then fills in the NULL that tx2's condition excludes. After tx1's COMMIT both
-- rows match, but tx2 updates only one: the other was judged by its last committed version.
-- Reported at READ COMMITTED (Fucci, code snippet 3, for MariaDB 10.6).
-- setup
CREATE TABLE t (a INT, b INT);
INSERT INTO t VALUES (NULL, 1), (1, 1);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 3;
/* tx2 */ UPDATE t SET b = 2 WHERE a IS NOT NULL;    -- expect: affected 2; blocked
-- expect SER: affected 2; blocked or error record-changed; blocked
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;                           -- expect: (1,2) (1,2)
-- expect SER: (1,2) (1,2) or (1,3) (1,3)
-- final
-- expect t: (1,2) (1,2)
-- expect t at SER: (1,2) (1,2) or (1,3) (1,3)
