-- id: whole-reads-forgotten
-- title: two transactions read the whole table, and each changes another row
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
