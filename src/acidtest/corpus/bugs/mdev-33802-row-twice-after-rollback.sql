-- id: MDEV-33802
-- title: a row is returned twice when the insert that a read waited for is rolled back
-- link: https://jira.mariadb.org/browse/MDEV-33802
-- target: mariadb
-- target: mysql
-- level: SERIALIZABLE
-- seen: mariadb@10.5.23 SER
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- tx2's read waits for tx1's new row; tx1 rolls back and the read finds its place again in a unique index
-- that holds several NULLs, one row too early, and returns the only row a second time.
-- Reported at SERIALIZABLE (Fucci, code snippet 2, for MariaDB 10.2 to 11.4; fixed since).
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE);
INSERT INTO t (a) VALUES (1);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t (a) VALUES (2);
/* tx2 */ SELECT a, b FROM t;               -- expect: (1,NULL)
-- expect RU: (1,NULL) (2,NULL)
-- expect SER: (1,NULL); blocked by tx1
/* tx1 */ ROLLBACK;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,NULL)
