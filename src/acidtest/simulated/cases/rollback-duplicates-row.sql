-- id: rollback-duplicates-row
-- title: a row that tx1 deleted comes back twice
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE id = 1;
/* tx1 */ ROLLBACK;
/* tx2 */ SELECT * FROM t;
