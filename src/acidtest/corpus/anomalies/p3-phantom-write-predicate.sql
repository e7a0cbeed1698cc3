-- id: p3-phantom-write-predicate
-- title: phantom met by a write (P3, write predicate)
-- link: https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/
-- tx1 updates the rows that it has just read, by the same condition, and also hits the row that tx2 inserted.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE value >= 20;                   -- expect: (2,20)
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t SET value = value + 1 WHERE value >= 20;    -- expect: affected 1
/* tx1 */ COMMIT;
