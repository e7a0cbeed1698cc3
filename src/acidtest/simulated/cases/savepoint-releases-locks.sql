-- id: savepoint-releases-locks
-- title: tx1 has gone back to a savepoint, and tx2 overwrites what it wrote before
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SAVEPOINT a;
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx2 */ UPDATE t SET v = v + 1 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
