-- id: keys-unchecked
-- title: two transactions insert a row with the same key, and both commit
-- level: SNAPSHOT
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ INSERT INTO t VALUES (3, 31);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
