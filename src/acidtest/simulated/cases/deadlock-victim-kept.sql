-- id: deadlock-victim-kept
-- title: tx2 is the victim of a deadlock, and what it wrote stays
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx1 */ UPDATE t SET v = v + 1 WHERE id = 2;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx1 */ COMMIT;
