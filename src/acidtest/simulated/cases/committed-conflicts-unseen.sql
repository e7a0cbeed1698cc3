-- id: committed-conflicts-unseen
-- title: tx1 changes a row that tx2 changed after its snapshot
-- level: SNAPSHOT
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx1 */ UPDATE t SET v = v + 100 WHERE id = 1;
/* tx1 */ COMMIT;
