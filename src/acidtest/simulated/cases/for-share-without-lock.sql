-- id: for-share-without-lock
-- title: tx2 changes a row that tx1 has locked for reading
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx1 */ COMMIT;
