-- id: savepoint-too-shallow
-- title: tx1 goes back to a savepoint and keeps what it wrote after it
-- level: READ COMMITTED
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT a;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
