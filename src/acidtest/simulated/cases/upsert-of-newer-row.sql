-- id: upsert-of-newer-row
-- title: tx1 adds to a row that tx2 inserted after its snapshot
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx1 */ INSERT INTO t VALUES (3, 0) ON DUPLICATE KEY UPDATE v = v + 100;
/* tx1 */ COMMIT;
