-- id: otv-observed-transaction-vanishes
-- title: observed transaction vanishes (OTV)
-- link: https://www.vldb.org/pvldb/vol7/p181-bailis.pdf
-- tx1 and tx2 both write both rows. tx3 sees tx2's value of one row, and then the older one of tx1 for the
-- other row: the transaction that it had observed is gone again.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx1 */ UPDATE t SET value = 19 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx3 */ SELECT * FROM t;             -- expect: (1,10) (2,20) or (1,11) (2,19) or (1,12) (2,18)
/* tx2 */ UPDATE t SET value = 18 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;             -- expect: (1,10) (2,20) or (1,11) (2,19) or (1,12) (2,18)
/* tx3 */ COMMIT;
