-- id: pmp-predicate-many-preceders
-- title: predicate-many-preceders, read predicate (PMP)
-- link: https://www.vldb.org/pvldb/vol7/p181-bailis.pdf
-- tx1 asks by two different conditions and gets the answers of two different states: tx2's row is missing
-- from the first and stands in the second.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE value = 30;         -- expect: no rows
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE value > 25;         -- expect: no rows
/* tx1 */ COMMIT;
