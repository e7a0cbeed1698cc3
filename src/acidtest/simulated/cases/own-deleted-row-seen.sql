-- id: own-deleted-row-seen
-- title: tx1 sees a row that it has deleted
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
