-- id: locks-end-with-statement
-- title: tx2 overwrites what tx1 has not committed
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
