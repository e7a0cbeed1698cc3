-- id: conditions-of-writes-forgotten
-- title: two transactions each change what the other one looks for
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 20 WHERE v = 10;
/* tx2 */ UPDATE t SET v = 10 WHERE v = 20;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
