-- id: MYSQL-100293
-- title: a SERIALIZABLE read answered by the query cache takes no lock
-- link: https://bugs.mysql.com/bug.php?id=100293
-- target: mysql <8.0
-- target: mariadb
-- level: SERIALIZABLE
-- server: --query-cache-type=1 --query-cache-size=1M
-- seen: mariadb@10.5.23 SER
-- seen: mariadb@10.11.19 SER
-- seen: mariadb@11.8.6 SER
-- seen: mysql@5.6.24 SER
-- The second read of tx1 comes from the query cache and locks nothing, so tx2's insert does not wait and
-- tx1 would see a phantom. Reported at SERIALIZABLE (thesis, section 4.4, for MySQL 5.7.31; fixed).
-- The thesis has no listing; these are our steps after its description. tx0 is never
-- SERIALIZABLE, because such a read is not put into the cache.
-- setup
CREATE TABLE t (c1 INT);
INSERT INTO t VALUES (1), (2);
-- schedule
/* tx0 */ SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
/* tx0 */ SET SESSION query_cache_type = 1;
/* tx0 */ BEGIN;
/* tx0 */ SELECT * FROM t;
/* tx0 */ COMMIT;
/* tx1 */ SET SESSION query_cache_type = 1;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;                  -- expect: (1) (2)
/* tx2 */ INSERT INTO t VALUES (3);         -- expect: affected 1
-- expect SER: affected 1; blocked by tx1
/* tx1 */ COMMIT;
