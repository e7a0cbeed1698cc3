-- id: rollback-keeps-row
-- title: a row that tx1 has taken back stays
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ ROLLBACK;
/* tx2 */ SELECT * FROM t;
