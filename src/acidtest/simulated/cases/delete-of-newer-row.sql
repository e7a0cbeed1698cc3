-- id: delete-of-newer-row
-- title: tx1 deletes a row that tx2 changed after its snapshot
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx1 */ DELETE FROM t WHERE id = 1;
/* tx1 */ COMMIT;
