-- id: p1-dirty-read
-- title: dirty read (P1)
-- link: https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/
-- tx1 moves 5 from one row to the other; tx2 reads in between and misses the 5 that are under way.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 5 WHERE id = 1;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20) or (1,5) (2,25); blocked
/* tx1 */ UPDATE t SET value = 25 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
