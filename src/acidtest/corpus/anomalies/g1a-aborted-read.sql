-- id: g1a-aborted-read
-- title: aborted read (G1a, A1)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx2 reads a value that tx1 then takes back: it never was in the database.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 101 WHERE id = 1;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20)
/* tx1 */ ROLLBACK;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20)
/* tx2 */ COMMIT;
