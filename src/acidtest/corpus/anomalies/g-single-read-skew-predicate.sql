-- id: g-single-read-skew-predicate
-- title: read skew by predicates (G-single)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx1 finds a row by its old value and then again by the new one that tx2 gave it.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE value = 10;         -- expect: (1,10)
/* tx2 */ UPDATE t SET value = 30 WHERE value = 10;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE value = 30;         -- expect: no rows
/* tx1 */ COMMIT;
