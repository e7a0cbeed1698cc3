-- id: locking-read-of-snapshot
-- title: tx1 locks a row and is shown an old version of it
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx1 */ COMMIT;
