-- id: p2-fuzzy-read
-- title: fuzzy or non-repeatable read (P2)
-- link: https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/
-- tx1 reads the same row twice and finds it changed by tx2 in between.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;             -- expect: (1,10)
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE id = 1;             -- expect: (1,10)
/* tx1 */ COMMIT;
