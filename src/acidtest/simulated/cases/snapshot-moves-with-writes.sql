-- id: snapshot-moves-with-writes
-- title: tx1 has written and sees what tx2 committed after its snapshot
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
