-- id: snapshot-lost-at-savepoint
-- title: tx1 goes back to a savepoint and sees what tx2 committed after its snapshot
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SAVEPOINT a;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ ROLLBACK TO SAVEPOINT a;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
