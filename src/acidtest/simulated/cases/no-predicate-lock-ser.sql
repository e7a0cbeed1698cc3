-- id: no-predicate-lock-ser
-- title: each of two transactions inserts what the other found missing
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v = 30;
/* tx2 */ SELECT * FROM t WHERE v = 30;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ INSERT INTO t VALUES (4, 30);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
