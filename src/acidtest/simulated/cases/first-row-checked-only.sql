-- id: first-row-checked-only
-- title: tx1 changes two rows, and tx2 changed the second since
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = v + 100;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 2;
/* tx1 */ COMMIT;
