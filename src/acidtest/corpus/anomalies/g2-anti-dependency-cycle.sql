-- id: g2-anti-dependency-cycle
-- title: anti-dependency cycle, predicate write skew (G2)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- Both transactions see that no value is 30 or more and then insert one each: a phantom for either.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE value >= 30;        -- expect: no rows
/* tx2 */ SELECT * FROM t WHERE value >= 30;        -- expect: no rows
/* tx1 */ INSERT INTO t VALUES (3, 30);
/* tx2 */ INSERT INTO t VALUES (4, 42);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
-- final
-- expect t: (1,10) (2,20) (3,30) or (1,10) (2,20) (4,42)
