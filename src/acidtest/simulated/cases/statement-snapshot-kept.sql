-- id: statement-snapshot-kept
-- title: tx1 does not see what tx2 committed between its reads
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
