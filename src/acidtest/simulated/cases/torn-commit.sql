-- id: torn-commit
-- title: tx1 sees half of what tx2 committed
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = v - 5 WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 5 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
