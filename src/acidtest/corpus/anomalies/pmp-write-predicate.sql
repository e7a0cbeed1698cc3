-- id: pmp-write-predicate
-- title: predicate-many-preceders, write predicate (PMP)
-- link: https://www.vldb.org/pvldb/vol7/p181-bailis.pdf
-- tx2 deletes the rows with value 20 while tx1 raises all values by 10. Before tx1 that is row 2, after it
-- row 1; a delete that tests its condition on one state and acts on another leaves a 20 behind.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = value + 10;
/* tx2 */ SELECT * FROM t;                          -- expect: (1,10) (2,20) or (1,20) (2,30); blocked
-- expect RU: ok
/* tx2 */ DELETE FROM t WHERE value = 20;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t WHERE value = 20;         -- expect: no rows
/* tx2 */ COMMIT;
-- final
-- expect t: (2,30) or (1,20)
