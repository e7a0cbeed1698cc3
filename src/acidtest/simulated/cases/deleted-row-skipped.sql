-- id: deleted-row-skipped
-- title: tx1 passes by a row that tx2 deleted after its snapshot
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t WHERE id = 1;
/* tx1 */ UPDATE t SET v = v + 100;
/* tx1 */ COMMIT;
