-- id: committed-pivot-forgotten
-- title: tx3 reads past tx1, which had read past tx2, when both have committed
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
/* tx3 */ SELECT v FROM t WHERE id = 2;
/* tx1 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx3 */ SELECT v FROM t WHERE id = 1;
/* tx3 */ COMMIT;
