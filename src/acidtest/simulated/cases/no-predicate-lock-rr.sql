-- id: no-predicate-lock-rr
-- title: a row appears in what tx1 has locked
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v > 15 FOR UPDATE;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE v > 15 FOR UPDATE;
/* tx1 */ COMMIT;
