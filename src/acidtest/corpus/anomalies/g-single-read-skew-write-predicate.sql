-- id: g-single-read-skew-write-predicate
-- title: read skew by a write predicate (G-single)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx1 reads the state before tx2 and then deletes by a condition that only this state meets; a delete that
-- looks at the newest state instead removes nothing.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;             -- expect: (1,10)
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 18 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ DELETE FROM t WHERE value = 20;           -- expect: affected 1
/* tx1 */ COMMIT;
