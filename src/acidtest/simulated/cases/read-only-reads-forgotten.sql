-- id: read-only-reads-forgotten
-- title: tx3 only reads, and sees the later of two writes but not the earlier
-- level: SERIALIZABLE
-- setup
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ SELECT v FROM t WHERE id = 2;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 21 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx3 */ BEGIN;
/* tx3 */ SELECT * FROM t;
/* tx3 */ COMMIT;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ COMMIT;
