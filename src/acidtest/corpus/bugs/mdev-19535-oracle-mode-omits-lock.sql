-- id: MDEV-19535
-- title: SELECT INTO ... FOR UPDATE takes no lock in sql_mode ORACLE
-- link: https://jira.mariadb.org/browse/MDEV-19535
-- target: mariadb >=10.3
-- level: REPEATABLE READ
-- seen: mariadb@10.5.23 no level
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 no level
-- Both transactions ask for a lock on the same row; with sql_mode=ORACLE the second did not wait, read the
-- old value, and tx1's update went past it. Reported at REPEATABLE READ and SERIALIZABLE (thesis, section
-- 4.4, for MariaDB 10.4.5; fixed). The thesis has no listing; the steps follow its description and the report.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1);
-- schedule
/* tx1 */ SET sql_mode = 'ORACLE';
/* tx2 */ SET sql_mode = 'ORACLE';
/* tx1 */ START TRANSACTION;
/* tx1 */ SELECT a FROM t INTO @a FOR UPDATE;
/* tx2 */ START TRANSACTION;
/* tx2 */ SELECT a FROM t INTO @a FOR UPDATE;    -- expect: ok; blocked by tx1
-- expect SER: ok; blocked by tx1 or error record-changed; blocked by tx1
/* tx1 */ UPDATE t SET a = a + 100;              -- expect: affected 1; not blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT @a;                             -- expect: (101)
-- expect SER: (101) or (NULL)
/* tx2 */ COMMIT;
-- final
-- expect t: (101)
