-- id: skip-locked-skips-nothing
-- title: tx2 is given a row that tx1 has locked
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM t FOR UPDATE SKIP LOCKED;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
