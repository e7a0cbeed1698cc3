-- id: failed-statement-kept
-- title: the first row of an INSERT stays though the second one failed
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30), (1, 11);
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
