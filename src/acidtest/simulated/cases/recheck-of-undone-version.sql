-- id: recheck-of-undone-version
-- title: tx2 adds to what tx1 wrote and then took back
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = v + 100 WHERE id = 1;
/* tx1 */ ROLLBACK;
/* tx2 */ COMMIT;
