-- id: write-chooses-by-snapshot
-- title: tx1 deletes a row that does not match any more
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ DELETE FROM t WHERE v = 10;
/* tx1 */ COMMIT;
