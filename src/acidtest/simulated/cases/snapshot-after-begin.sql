-- id: snapshot-after-begin
-- title: tx1 sees what tx2 committed after BEGIN
-- level: REPEATABLE READ
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
