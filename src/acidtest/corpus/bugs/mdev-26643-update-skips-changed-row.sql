-- id: MDEV-26643
-- title: an update that waited skips a row which the other transaction made match
-- link: https://jira.mariadb.org/browse/MDEV-26643
-- link: https://bugs.mysql.com/bug.php?id=104833
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: READ COMMITTED
-- seen: mariadb@10.5.23 RU, RC
-- seen: mariadb@10.11.19 RU, RC
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 RU, RC
-- seen: mysql@9.7.4 RU, RC
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx2 waits for tx1, and when tx1 commits no c1 is NULL any more, yet tx2 leaves out the first row: its
-- condition had been tested on the old version (semi-consistent read) although the row was locked.
-- Reported at READ UNCOMMITTED and READ COMMITTED (Troc, figure 1, for MySQL 8.0.25 and MariaDB 10.5.12).
-- The figure's table is only partly readable in the text; rows 2 and 3 are ours.
-- setup
CREATE TABLE t (c1 INT, c2 INT);
INSERT INTO t VALUES (NULL, 0), (1, 1), (2, 2);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 10;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c2 = 20 WHERE c1 IS NOT NULL;    -- expect: affected 3; blocked
-- expect SER: affected 3; blocked or error record-changed; blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (10,20) (10,20) (10,20)
-- expect t at SER: (10,20) (10,20) (10,20) or (10,0) (10,1) (10,2)
