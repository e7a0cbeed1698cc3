-- id: failed-transaction-kept
-- title: tx1 fails, but what it had written is committed
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ INSERT INTO t VALUES (2, 0);
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
