-- id: p3-phantom
-- title: phantom (P3)
-- link: https://www.microsoft.com/en-us/research/publication/a-critique-of-ansi-sql-isolation-levels/
-- tx1 asks the same question twice, and the second answer holds a row that tx2 inserted in between.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE value >= 20;        -- expect: (2,20)
/* tx2 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE value >= 20;        -- expect: (2,20)
/* tx1 */ COMMIT;
