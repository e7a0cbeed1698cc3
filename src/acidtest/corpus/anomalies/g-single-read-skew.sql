-- id: g-single-read-skew
-- title: read skew (G-single, A5A)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx1 reads one row before and the other after tx2's transfer: the two together never stood in the database.
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
/* tx1 */ SELECT * FROM t WHERE id = 2;             -- expect: (2,20)
/* tx1 */ COMMIT;
