-- id: aborted-read
-- title: tx1 sees what tx2 has taken back
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ ROLLBACK;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
