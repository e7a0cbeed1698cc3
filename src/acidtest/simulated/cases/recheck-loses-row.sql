-- id: recheck-loses-row
-- title: tx2 waited for a row and passes it by although it still matches
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET v = 0 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
