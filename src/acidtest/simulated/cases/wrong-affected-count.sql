-- id: wrong-affected-count
-- title: tx1 changes two rows and is told of one
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ UPDATE t SET v = v + 1;
/* tx1 */ COMMIT;
