-- id: MYSQL-93806
-- title: INSERT ... ON DUPLICATE KEY UPDATE locks the gap before the row it updates
-- link: https://bugs.mysql.com/bug.php?id=93806
-- target: mysql
-- target: mariadb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 no level
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- tx1 updates row 5 through a duplicate primary key, which needs a lock on that row alone; instead the gap
-- before it is locked too, and tx2's insert of row 4 waits for nothing.
-- Reported at READ COMMITTED and REPEATABLE READ (thesis, figure 4.9, for MySQL 8.0.12; fixed in 8.0.16).
-- setup
CREATE TABLE t (id INT PRIMARY KEY, a INT);
INSERT INTO t VALUES (1, 1), (5, 5);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (5, 5) ON DUPLICATE KEY UPDATE a = a + 1;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (4, 4);       -- expect: affected 1; not blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,1) (4,4) (5,6)
