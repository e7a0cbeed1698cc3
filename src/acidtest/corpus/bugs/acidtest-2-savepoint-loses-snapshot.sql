-- id: ACIDTEST-2
-- title: ROLLBACK TO a savepoint that was set before the first read loses the snapshot
-- link: https://mariadb.com/docs/server/reference/sql-statements/transactions/savepoint
-- target: mariadb
-- target: mysql
-- target: tidb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 RR
-- seen: mariadb@10.11.19 RR
-- seen: mariadb@11.8.6 RR
-- seen: mysql@5.6.24 RR
-- seen: mysql@9.7.4 RR
-- tx1 has read nothing but its snapshot when it goes back to a savepoint, and then reads a newer one. The server
-- rolls back the whole transaction in engines that had not joined it when the savepoint was set, and with it
-- goes InnoDB's snapshot. ROLLBACK TO SAVEPOINT is documented not to terminate the transaction.
-- Found by acidtest fuzz on MariaDB 11.8.6.
-- setup
CREATE TABLE t (a INT);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ SELECT * FROM t;               -- expect: (0)
/* tx2 */ INSERT INTO t VALUES (1);      -- expect: affected 1
-- expect SER: ok; blocked
/* tx1 */ ROLLBACK TO SAVEPOINT s;
/* tx1 */ SELECT * FROM t;               -- expect: (0) (1)
-- expect RR: (0)
-- expect SER: (0) or (0) (1)
/* tx1 */ COMMIT;
