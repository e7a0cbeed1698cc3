-- id: MYSQL-104245
-- title: INSERT IGNORE of the same duplicate counts its row lock again and again
-- link: https://bugs.mysql.com/bug.php?id=104245
-- target: mysql
-- level: REPEATABLE READ
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- Five ignored duplicates of one row lock that row five times over and once more for each try, where one
-- lock on the unique index entry, or one more on the gap beside it, would do. It costs memory and time, no result is wrong.
-- Reported at READ COMMITTED and REPEATABLE READ (thesis, section 4.4, for MySQL 5.7.34 and 8.0.23). The
-- thesis has no listing; the table is reduced from the report.
-- setup
CREATE TABLE t (c1 INT NOT NULL AUTO_INCREMENT PRIMARY KEY, c2 INT NOT NULL, UNIQUE KEY uk (c2));
INSERT INTO t (c2) VALUES (1);
-- schedule
/* tx1 */ START TRANSACTION;
/* tx1 */ INSERT IGNORE INTO t (c2) VALUES (1), (1), (1), (1), (1);    -- expect: affected 0
/* tx1 */ SELECT trx_rows_locked FROM information_schema.innodb_trx
          WHERE trx_mysql_thread_id = CONNECTION_ID();                 -- expect: (1) or (2)
/* tx1 */ COMMIT;
