-- id: predicates-forgotten
-- title: two transactions count the rows of the other's kind and add one of their own
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v = 1;
/* tx2 */ SELECT * FROM t WHERE v = 2;
/* tx1 */ INSERT INTO t VALUES (3, 2);
/* tx2 */ INSERT INTO t VALUES (4, 1);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
