-- id: MYSQL-108528
-- title: an UPDATE changes rows that a SELECT with the same condition does not find
-- link: https://bugs.mysql.com/bug.php?id=108528
-- link: https://jira.mariadb.org/browse/MDEV-29565
-- target: mysql
-- target: mariadb
-- target: tidb
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 RR
-- seen: mariadb@10.11.19 RR
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 RR
-- seen: mysql@9.7.4 RR
-- seen: tidb@5.4.2 no level
-- seen: tidb@5.4.2?mode=optimistic no level
-- tx1's SELECT and UPDATE have the same condition and stand next to each other, yet the UPDATE changes two
-- rows where the SELECT found one: it reads the subquery's table as committed by tx2, not as in the snapshot.
-- Reported at REPEATABLE READ (TxCheck, figure 1, and thesis, figures 4.6 and 4.7, for MySQL 5.7 and 8.0 and
-- MariaDB 10.8.3); the developers call it the documented current read of InnoDB. Tables and rows are ours.
-- setup
CREATE TABLE limits (id INT PRIMARY KEY, wkey INT);
CREATE TABLE t (id INT PRIMARY KEY, wkey INT, c INT);
INSERT INTO limits VALUES (1, 40), (2, 50);
INSERT INTO t VALUES (1, 43, 8), (2, 43, 53);
-- schedule
/* tx1 */ START TRANSACTION;
/* tx2 */ START TRANSACTION;
/* tx1 */ SELECT * FROM limits;                                          -- expect: (1,40) (2,50)
/* tx2 */ UPDATE limits SET wkey = 162;
/* tx2 */ COMMIT;
/* tx1 */ SELECT id FROM t WHERE c <= (SELECT MIN(wkey) FROM limits);    -- expect: (1)
-- expect RU, RC: (1) (2)
/* tx1 */ UPDATE t SET wkey = 63
          WHERE c <= (SELECT MIN(wkey) FROM limits);                     -- expect: affected 1
-- expect RU, RC: affected 2
-- expect RR: affected 1 or error record-changed
/* tx1 */ COMMIT;
-- final
-- expect t: (1,63,8) (2,43,53)
-- expect t at RU, RC: (1,63,8) (2,63,53)
-- expect t at RR: (1,63,8) (2,43,53) or (1,43,8) (2,43,53)
