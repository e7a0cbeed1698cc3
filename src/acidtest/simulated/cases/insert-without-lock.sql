-- id: insert-without-lock
-- title: tx2 locks all rows and does not wait for the one that tx1 inserts
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
