-- id: p4-lost-update
-- title: lost update (P4)
-- link: https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/
-- tx1 reads 10 and later writes back 10 + 1; tx2 adds 5 in between, and its 5 are gone.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1;             -- expect: (1,10)
/* tx2 */ UPDATE t SET value = value + 5 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,16) (2,20)
