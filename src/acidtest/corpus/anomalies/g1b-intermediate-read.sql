-- id: g1b-intermediate-read
-- title: intermediate read (G1b)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx2 reads a value that tx1 overwrites before it commits: no committed state ever held it.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 101 WHERE id = 1;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20) or (1,11) (2,20); blocked
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20) or (1,11) (2,20)
/* tx2 */ COMMIT;
