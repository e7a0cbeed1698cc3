-- id: reads-end-with-commit
-- title: tx1 committed before tx2 changes what tx1 had read
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
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx2 */ COMMIT;
