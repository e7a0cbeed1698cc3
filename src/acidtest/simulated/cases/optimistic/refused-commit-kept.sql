-- id: refused-commit-kept
-- title: the COMMIT of tx1 fails, but what it wrote stays
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = v + 100 WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
