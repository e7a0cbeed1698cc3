-- id: taken-keys-forgotten
-- title: tx1 adds a row if it is not there, and tx2 deletes what it sees
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT IGNORE INTO t VALUES (2, 2), (1, 1);
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
