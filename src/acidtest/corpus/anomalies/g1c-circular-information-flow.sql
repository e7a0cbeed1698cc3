-- id: g1c-circular-information-flow
-- title: circular information flow (G1c)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- Each transaction reads what the other has just written, so each would have to come before the other.
-- A read that had to wait may see the other's value: then the other came first.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 22 WHERE id = 2;
/* tx1 */ SELECT * FROM t WHERE id = 2;             -- expect: (2,20) or (2,22); blocked
/* tx2 */ SELECT * FROM t WHERE id = 1;             -- expect: (1,10) or (1,11); blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
