-- id: commit-unchecked
-- title: write skew: the last statement of each comes before the other's COMMIT
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT v FROM t WHERE id = 2;
/* tx2 */ SELECT v FROM t WHERE id = 1;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
