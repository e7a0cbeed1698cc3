-- id: read-not-rechecked
-- title: tx2 waited to lock a row and is shown what it was before
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
