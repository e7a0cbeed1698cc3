-- id: deleted-rows-unseen
-- title: tx2 changes a row that tx1 has deleted
-- level: SNAPSHOT
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 100 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
