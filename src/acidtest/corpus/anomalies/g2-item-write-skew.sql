-- id: g2-item-write-skew
-- title: write skew (G2-item, A5B)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- Both transactions read both rows and each writes another one: neither saw the other's write, so none of
-- the two can have come first.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id IN (1, 2);       -- expect: (1,10) (2,20)
/* tx2 */ SELECT * FROM t WHERE id IN (1, 2);       -- expect: (1,10) (2,20)
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 21 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,11) (2,20) or (1,10) (2,21)
