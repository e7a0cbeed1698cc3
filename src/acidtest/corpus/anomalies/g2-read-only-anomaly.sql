-- id: g2-read-only-anomaly
-- title: read-only transaction anomaly, two anti-dependencies (G2)
-- link: https://www.cs.umb.edu/~poneil/ROAnom.pdf
-- tx1 reads the state before tx2 and writes after it; tx3 only reads, and sees tx2's write without tx1's.
-- tx1 is before tx2, tx2 before tx3, and tx3 before tx1.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t;                          -- expect: (1,10) (2,20)
/* tx2 */ UPDATE t SET value = 25 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;                          -- expect: (1,10) (2,20) or (1,0) (2,25); blocked
/* tx3 */ COMMIT;
/* tx1 */ UPDATE t SET value = 0 WHERE id = 1;
/* tx1 */ COMMIT;
