-- id: intermediate-read
-- title: tx1 sees a value that tx2 had overwritten before it committed
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 12 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
